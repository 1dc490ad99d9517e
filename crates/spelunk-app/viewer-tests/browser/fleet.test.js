// The fleet page, against two real servers on a real NATS server: nodes, the queue, and a run on the other node.

import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import path from 'node:path';
import test from 'node:test';
import { axe, openBrowser, openPage, shoot } from '../scene/browser.js';
import { startModel } from '../scene/model.js';
import { BINARY, newScene } from '../scene/runs.js';

const NATS_PORT = 24222;
const own = path.resolve(import.meta.dirname, '../../../../target/nats/bin/nats-server');
const program = existsSync(own) ? own : 'nats-server';
const isThere = spawnSync(program, ['--version']).status === 0;
const fleet = ['--fleet', `nats://127.0.0.1:${NATS_PORT}`];

const scene = newScene();
let [browser, model, nats, server, worker] = [];
test.before(async () => {
  if (!isThere) return;
  nats = spawn(program, ['-js', '-sd', path.join(scene.root, 'nats'), '-a', '127.0.0.1', '-p', String(NATS_PORT)], { stdio: 'ignore' });
  browser = await openBrowser();
  model = await startModel([{ when: /./u, reply: 'It is 42.', paceMs: 500 }]);
  server = await started(['serve', '--listen', '127.0.0.1:0', '--set', 'fleet.node=page', '--set', 'server.runs_parallel_max=1'], /listening on (http:\/\/[\d.:]+)/u);
  worker = await started(['worker', '--workspace', path.join(scene.root, 'w'), '--set', 'fleet.node=hand'], /node (hand) joined/u);
});
test.after(async () => {
  for (const one of [worker?.child, server?.child, nats]) one?.kill('SIGKILL');
  model?.stop();
  await browser?.close();
  scene.remove();
});

async function started(args, pattern) {
  const options = { cwd: scene.work, env: scene.environment(model), stdio: ['ignore', 'ignore', 'pipe'] };
  const child = spawn(BINARY, [...args, ...fleet], options);
  let log = '';
  const found = await new Promise((resolve, reject) => {
    child.stderr.on('data', (piece) => {
      log += piece;
      const match = pattern.exec(log);
      if (match) resolve(match[1]);
    });
    child.on('exit', (code) => reject(new Error(`ended with ${code}: ${log}`)));
  });
  return { child, url: `${found}/` };
}

test('the fleet shows its nodes, and a run can be followed on any of them', { skip: isThere ? false : 'SKIPPED: no nats-server' }, async () => {
  for (let n = 0; n < 2; n += 1) {
    await fetch(`${server.url}v1/runs`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify({ question: `What is it, ${n}?`, paths: ['service'], strategy: 'direct' }),
    });
  }
  const page = await openPage(browser);
  await page.goto(server.url);
  await page.getByRole('link', { name: 'Fleet' }).click();
  await page.getByRole('cell', { name: 'hand' }).first().waitFor();
  await page.getByRole('cell', { name: 'page' }).first().waitFor();
  assert.deepEqual(await axe(page), []);
  await shoot(page, 'fleet');
  await page.goto(`${server.url}#/`);
  await page.locator('.run-table .state', { hasText: 'answered' }).nth(1).waitFor({ timeout: 30_000 });
  assert.deepEqual(page.faults, []);
  await page.context().close();
});

test('a server without a fleet says so', { skip: isThere ? false : 'SKIPPED: no nats-server' }, async () => {
  const options = { cwd: scene.work, env: scene.environment(model), stdio: ['ignore', 'ignore', 'pipe'] };
  const child = spawn(BINARY, ['serve', '--listen', '127.0.0.1:0', '--workspace', path.join(scene.root, 'alone')], options);
  const url = await new Promise((resolve) => {
    child.stderr.on('data', (piece) => {
      const found = /listening on (http:\/\/[\d.:]+)/u.exec(String(piece));
      if (found) resolve(found[1]);
    });
  });
  const page = await openPage(browser);
  await page.goto(`${url}/`);
  await page.getByRole('heading', { name: 'No runs yet' }).waitFor();
  assert.equal(await page.getByRole('link', { name: 'Fleet' }).count(), 0);
  await page.goto(`${url}/#/fleet`);
  await page.getByRole('heading', { name: 'This server belongs to no fleet' }).waitFor();
  await page.context().close();
  child.kill('SIGKILL');
});
