// A tool call that may change something waits for consent on the page of its run, against the real server: what is shown,
// and what Allow and Deny do.

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import test from 'node:test';
import { axe, openBrowser, openPage, PHONE, shoot } from '../scene/browser.js';
import { startModel } from '../scene/model.js';
import { BINARY, HOSTILE, newScene } from '../scene/runs.js';

const SETTINGS = `
[ask]
tools = "book"

[tools.book]
kind = "program"
command = ["sh", "-c", "cat >> booked; echo >> booked; echo '{\\"booked\\": true}'"]
schema = '{"type": "object", "properties": {"seat": {"type": "string"}}, "required": ["seat"]}'
`;
const SEAT = `7A ${HOSTILE}`;
const CODE = `\`\`\`repl\ntry:\n    FINAL(str(book(${JSON.stringify(SEAT)})))\nexcept ToolError as error:\n    FINAL(str(error))\n\`\`\``;

const scene = newScene();
let [browser, model, server] = [];
test.before(async () => {
  const folder = path.join(scene.root, 'home', '.config', 'spelunk');
  mkdirSync(folder, { recursive: true });
  writeFileSync(path.join(folder, 'config.toml'), SETTINGS);
  browser = await openBrowser();
  model = await startModel([{ when: /./u, reply: CODE }]);
  server = await startServer();
});
test.after(async () => {
  server?.child.kill('SIGKILL');
  model?.stop();
  await browser.close();
  scene.remove();
});

async function startServer() {
  const options = { cwd: scene.work, env: scene.environment(model), stdio: ['ignore', 'ignore', 'pipe'] };
  const child = spawn(BINARY, ['serve', '--listen', '127.0.0.1:0'], options);
  let log = '';
  const url = await new Promise((resolve, reject) => {
    child.stderr.on('data', (piece) => {
      log += piece;
      const found = /listening on (http:\/\/[\d.:]+)/u.exec(log);
      if (found) resolve(found[1]);
    });
    child.on('exit', (code) => reject(new Error(`the server ended with ${code}: ${log}`)));
  });
  return { child, url: `${url}/` };
}

async function waitingPage(options) {
  const response = await fetch(`${server.url}v1/runs`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify({ question: 'Book a seat.', paths: ['service'] }),
  });
  const { run } = await response.json();
  const page = await openPage(browser, options);
  await page.goto(`${server.url}#/run/${run}`);
  await page.getByRole('heading', { name: 'May book be called?' }).waitFor();
  return page;
}

const state = (page, word) => page.locator('.masthead .state', { hasText: word }).waitFor();
const booked = () => (existsSync(path.join(scene.work, 'booked')) ? readFileSync(path.join(scene.work, 'booked'), 'utf8') : '');

async function close(page) {
  assert.deepEqual(page.faults, []);
  assert.equal(await page.evaluate(() => window.owned), undefined);
  await page.context().close();
}

test('a call waits with its arguments, and Deny refuses it', async () => {
  const page = await waitingPage();
  await state(page, 'waiting');
  await page.locator('.consent pre', { hasText: '"seat": "7A' }).waitFor();
  assert.match(await page.locator('.consent').innerText(), /must happen at most once/u);
  await shoot(page, 'consent-light');
  await page.getByRole('button', { name: 'Deny' }).click();
  await state(page, 'answered');
  await page.locator('.prose', { hasText: 'the user does not allow this call of' }).waitFor();
  assert.equal(await page.locator('.consent').isVisible(), false);
  assert.equal(booked(), '');
  await close(page);
});

test('Allow makes the call, once', async () => {
  const page = await waitingPage({ viewport: PHONE, colorScheme: 'dark' });
  await shoot(page, 'consent-phone-dark');
  await page.getByRole('button', { name: 'Allow' }).click();
  await state(page, 'answered');
  await page.locator('.prose', { hasText: 'booked' }).waitFor();
  assert.deepEqual(JSON.parse(booked()), { seat: SEAT });
  await close(page);
});

test('a page with a call that waits is as accessible as the others', async () => {
  for (const colorScheme of ['light', 'dark']) {
    const page = await waitingPage({ colorScheme });
    await page.locator('.consent pre').waitFor();
    assert.deepEqual(await axe(page), [], colorScheme);
    await page.getByRole('button', { name: 'Cancel' }).click();
    await state(page, 'cancelled');
    assert.equal(await page.locator('.consent').isVisible(), false);
    await close(page);
  }
});
