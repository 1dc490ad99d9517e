// The pages against the real server, with real runs against the scripted model: from the form to the answer, across a
// reload, a cancelled run, and a server that is killed in the middle.

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import test from 'node:test';
import { openBrowser, openPage, shoot } from '../scene/browser.js';
import { startModel } from '../scene/model.js';
import { BINARY, exploringRun, newScene, reviewRun, rulesFor, spelunk } from '../scene/runs.js';

const scene = newScene();
let [browser, model, server, review, explored] = [];
/** Delays the model's replies while it is closed. */
const gate = {
  isOpen: true,
  waiting: [],
  close() {
    this.isOpen = false;
  },
  open() {
    this.isOpen = true;
    this.waiting.splice(0).forEach((go) => go());
  },
};
const gated = () =>
  gate.isOpen
    ? Promise.resolve()
    : new Promise((resolve) => {
        gate.waiting.push(resolve);
      });

async function startServer(port = 0, args = []) {
  const child = spawn(BINARY, ['serve', '--listen', `127.0.0.1:${port}`, ...args], {
    cwd: scene.work,
    env: scene.environment(model),
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  let log = '';
  const url = await new Promise((resolve, reject) => {
    child.stderr.on('data', (piece) => {
      log += piece;
      const found = /listening on (http:\/\/[\d.:]+)/u.exec(log);
      if (found) resolve(found[1]);
    });
    child.on('exit', (code) => reject(new Error(`the server ended with ${code}: ${log}`)));
  });
  return {
    url: `${url}/`,
    port: Number(new URL(url).port),
    kill: (signal) =>
      new Promise((resolve) => {
        child.removeAllListeners('exit');
        child.on('exit', resolve);
        child.kill(signal);
      }),
  };
}

test.before(async () => {
  browser = await openBrowser();
  review = await reviewRun(scene);
  explored = await exploringRun(scene);
  model = await startModel((prompt) => rulesFor(prompt).map((rule) => ({ ...rule, gate: gated })));
  server = await startServer();
});
test.after(async () => {
  await server?.kill('SIGKILL');
  model?.stop();
  await browser.close();
  scene.remove();
});

async function close(page) {
  assert.deepEqual(page.faults, []);
  assert.deepEqual(
    page.requestUrls.filter((url) => !url.startsWith(server.url) && !url.startsWith('blob:')),
    [],
  );
  assert.equal(await page.evaluate(() => window.owned), undefined);
  await page.context().close();
}

const state = (page, word) => page.locator('.masthead .state', { hasText: word }).waitFor();

async function startRun(page, question, strategy) {
  await page.goto(`${server.url}#/new`);
  await page.locator('option[value=repl]').waitFor({ state: 'attached' });
  await page.getByLabel('Question').fill(question);
  await page.getByLabel('Paths').fill('service');
  await page.getByLabel('Strategy').selectOption(strategy);
  await page.getByRole('button', { name: 'Start the run' }).click();
  await page.locator('#tab-answer').waitFor();
}

test('the list shows the runs of the workspace and opens one', async () => {
  const page = await openPage(browser);
  await page.goto(server.url);
  await page.locator('.run-row').nth(1).waitFor();
  assert.equal(await page.locator('.run-row').count(), 2);
  await shoot(page, 'served-list-light');
  await page.getByRole('link', { name: 'Review this service' }).click();
  await state(page, 'answered');
  assert.ok(page.url().includes(review));
  await close(page);
});

test('a citation opens the source on the server with the quote marked', async () => {
  const page = await openPage(browser);
  await page.goto(`${server.url}#/run/${review}`);
  await page.locator('.citations .place', { hasText: 'login.py:4' }).click();
  assert.equal(await page.locator('dialog[open] mark').innerText(), "db.run('select ' + name)");
  assert.equal(await page.locator('dialog[open] .line').count(), 7, 'the whole file is near');
  await shoot(page, 'served-source-light');
  await close(page);
});

test('prompts and replies are fetched when they are opened', async () => {
  const page = await openPage(browser);
  await page.goto(`${server.url}#/run/${explored}/tree`);
  await page.getByRole('treeitem').first().waitFor();
  const blobs = () => page.requestUrls.filter((url) => url.includes('/blobs/')).length;
  const before = blobs();
  await page.getByRole('tree').focus();
  await page.keyboard.press('j');
  await page.keyboard.press('Enter');
  await page.locator('.detail details', { hasText: 'User' }).locator('pre').first().waitFor();
  assert.match(await page.locator('.detail').innerText(), /Where do orders go/u);
  const afterCall = blobs();
  const system = page.locator('.detail details', { hasText: 'System' });
  await system.locator('summary').click();
  await system.locator('pre', { hasText: 'too long to read at once' }).waitFor();
  assert.ok(blobs() > afterCall && afterCall >= before, 'the system prompt is a blob of its own');
  await close(page);
});

test('findings and the plan come from the server', async () => {
  const page = await openPage(browser);
  await page.goto(`${server.url}#/run/${review}/findings`);
  await page.locator('.finding').first().waitFor();
  assert.equal(await page.locator('.finding').count(), 6);
  await page.locator('#tab-plan').click();
  await page.locator('.tile').first().waitFor();
  const states = await page.locator('.plan tbody tr td:last-child').allInnerTexts();
  assert.deepEqual(states, Array(8).fill('done'));
  await close(page);
});

test('from the form to the answer, followed live across a reload', async () => {
  const page = await openPage(browser);
  gate.close();
  await startRun(page, 'Review this service for security problems, again', 'map');
  await page.waitForFunction(() => Number(document.querySelector('#tab-timeline .n')?.textContent) > 0);
  await shoot(page, 'served-live-light');
  await page.reload();
  await page.waitForFunction(() => Number(document.querySelector('#tab-timeline .n')?.textContent) > 0);
  assert.equal(await page.locator('.link').innerText(), 'live');
  gate.open();
  await state(page, 'answered');
  await page.locator('.prose', { hasText: 'Two ways to inject SQL' }).waitFor();
  await close(page);
});

test('a run is cancelled and resumed from its page', async () => {
  const page = await openPage(browser);
  gate.close();
  await startRun(page, 'Where do orders go, a second time?', 'repl');
  await page.waitForFunction(() => Number(document.querySelector('#tab-timeline .n')?.textContent) > 0);
  await page.getByRole('button', { name: 'Cancel' }).click();
  await state(page, 'cancelled');
  gate.open();
  await page.getByRole('button', { name: 'Resume' }).click();
  await state(page, 'answered');
  await page.getByRole('button', { name: 'Details' }).click();
  await page.locator('.facts', { hasText: 'Resumed' }).first().waitFor();
  await close(page);
});

test('the page reconnects to a server that was killed and restarted, and the run ends', async () => {
  const page = await openPage(browser);
  page.mayFail = true;
  gate.close();
  await startRun(page, 'Where do orders go, a third time?', 'repl');
  await page.waitForFunction(() => Number(document.querySelector('#tab-timeline .n')?.textContent) > 0);
  await server.kill('SIGKILL');
  await page.locator('.link', { hasText: 'connection lost' }).waitFor();
  gate.open();
  server = await startServer(server.port);
  await page.locator('.masthead .state', { hasText: 'answered' }).waitFor({ timeout: 30000 });
  await page.locator('.prose', { hasText: 'billing refused them' }).waitFor();
  page.mayFail = false;
  await close(page);
});

test('files are uploaded and read', async () => {
  const page = await openPage(browser);
  await page.goto(`${server.url}#/new`);
  await page.locator('option[value=repl]').waitFor({ state: 'attached' });
  await page.getByLabel('Question').fill('What does billing say?');
  await page
    .getByLabel('Or upload files')
    .setInputFiles([{ name: 'notes.txt', mimeType: 'text/plain', buffer: Buffer.from('billing says no\n') }]);
  await page.getByLabel('Strategy').selectOption('repl');
  await page.getByRole('button', { name: 'Start the run' }).click();
  await page.locator('#tab-answer').waitFor();
  await state(page, 'answered');
  await page.getByRole('button', { name: 'Details' }).click();
  assert.match(await page.locator('.facts').first().innerText(), /1 file/u);
  await close(page);
});

test('a path outside all roots is refused at its field', async () => {
  const page = await openPage(browser);
  page.mayFail = true;
  await page.goto(`${server.url}#/new`);
  await page.getByLabel('Question').fill('What is there?');
  await page.getByLabel('Paths').fill('../home');
  await page.getByRole('button', { name: 'Start the run' }).click();
  await page.locator('#field-paths-fault', { hasText: 'is outside the directories' }).waitFor();
  assert.equal(await page.locator('#field-paths').getAttribute('aria-invalid'), 'true');
  page.mayFail = false;
  await close(page);
});

test('a path below a root is completed and read, wherever the server was started', async () => {
  const elsewhere = await startServer(0, ['--root', 'service', '--workspace', `${scene.work}/.spelunk`]);
  const page = await openPage(browser);
  await page.goto(`${elsewhere.url}#/new`);
  await page.getByLabel('Paths').pressSequentially('log');
  await page.locator('.offered button', { hasText: 'login.py' }).click();
  assert.equal(await page.getByLabel('Paths').inputValue(), 'login.py');
  assert.deepEqual(page.faults, []);
  await page.context().close();
  await elsewhere.kill('SIGKILL');
});

test('two runs are compared', async () => {
  const page = await openPage(browser);
  await page.goto(`${server.url}#/compare/${review}/${explored}`);
  await page.locator('.thirds article').first().waitFor();
  assert.match(await page.locator('.thirds h3').first().innerText(), /Only in .* 6/u);
  await shoot(page, 'served-compare-light');
  await close(page);
});

test('a report is saved as a file', async () => {
  const page = await openPage(browser);
  await page.goto(`${server.url}#/run/${review}`);
  await state(page, 'answered');
  await page.getByRole('button', { name: 'Details' }).click();
  const saved = page.waitForEvent('download');
  await page.getByRole('button', { name: 'Report .sarif' }).click();
  assert.match((await saved).suggestedFilename(), /\.sarif$/u);
  await close(page);
});

test('with tokens: the page is public, its data is not', async () => {
  const file = path.join(scene.root, 'tokens');
  writeFileSync(file, '');
  const printed = await spelunk(scene, ['serve', '--token-file', file, '--new-token', 'reader', '--scopes', 'read']);
  const token = printed.trim().split(/\s+/u).pop();
  const guarded = await startServer(0, ['--token-file', file]);
  const page = await openPage(browser);
  page.mayFail = true;
  await page.goto(guarded.url);
  await page.locator('[role=alert]').first().waitFor();
  await page.goto('about:blank');
  await page.goto(`${guarded.url}#token=${encodeURIComponent(token)}&/run/${review}`);
  await state(page, 'answered');
  assert.ok(!page.url().includes(token));
  await page.context().close();
  await guarded.kill('SIGKILL');
});
