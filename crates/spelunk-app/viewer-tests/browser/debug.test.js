// The views for debugging a run, against a mock: what made what, what it cost, how to find a call, and charts.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import test from 'node:test';
import { axe, DESK, openBrowser, openPage, PHONE, shoot } from '../scene/browser.js';
import { startMock } from '../scene/mock.js';

const JOURNALS = path.join(import.meta.dirname, '..', 'journals');
const read = (name) =>
  readFileSync(path.join(JOURNALS, `${name}.jsonl`), 'utf8')
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line));
const [REVIEW, EXPLORED] = ['rlm-20260301T120000Z-00000001', 'rlm-20260228T120000Z-00000002'];

let [browser, mock] = [];
test.before(async () => {
  browser = await openBrowser();
  mock = await startMock({
    [REVIEW]: {
      events: read('review-by-analysts'),
      row: { question: 'Review it', state: 'answered', strategy: 'map', model: 'openai/large' },
    },
    [EXPLORED]: { events: read('explored-with-code'), row: { question: 'Where do orders go?', state: 'answered' } },
  });
});
test.after(async () => {
  await browser.close();
  mock.stop();
});

/** Opens a page. For a run, waits until all its events have arrived. */
async function open(address, options) {
  const page = await openPage(browser, options);
  await page.goto(`${mock.url}${address}`);
  if (address.startsWith('#/run/')) await page.locator('.masthead .state.answered').waitFor();
  return page;
}

async function close(page) {
  assert.deepEqual(page.faults, []);
  await page.context().close();
}

const rows = (page) =>
  page
    .getByRole('treeitem')
    .evaluateAll((items) =>
      items.map((item) => `${item.getAttribute('aria-level')} ${item.querySelector('.name').textContent}`),
    );

test('calls are below the cell that made them, and many are one row with their sums', async () => {
  const page = await open(`#/run/${EXPLORED}/tree`);
  await page.getByRole('treeitem').nth(9).waitFor();
  const shown = ['1 0', '2 0#0', '2 cell 0', '2 0#1', '2 cell 1', '3 13 calls', '2 0#15', '2 cell 2', '2 0#16', '2 cell 3'];
  assert.deepEqual(await rows(page), shown);
  const batch = page.getByRole('treeitem').filter({ hasText: '13 calls' });
  assert.match(await batch.innerText(), /13 replied\s+0 ms to 97 ms, median 20 ms\s+7\.6k \$0\.00/u);
  assert.match(await page.getByRole('treeitem').filter({ hasText: 'cell 1' }).innerText(), /7\.6k \$0\.00\s+151 ms/u);
  await batch.click();
  assert.equal((await rows(page)).length, 23);
  assert.deepEqual((await rows(page)).slice(5, 8), ['3 13 calls', '4 0#2', '4 0#3']);
  await close(page);
});

test('a branch shows what it spent itself and in total', async () => {
  const page = await open(`#/run/${REVIEW}/tree/frame/0`);
  await page.locator('.detail h2', { hasText: 'Frame 0' }).waitFor();
  assert.match(await page.locator('.detail .facts').innerText(), /Calls\s+0 own, 20 in all\s+Tokens\s+0 own, 22\.4k in all/u);
  await close(page);
});

test('the tree is searched by words, state, model and cost', async () => {
  const page = await open(`#/run/${EXPLORED}/tree`);
  await page.getByRole('treeitem').nth(9).waitFor();
  const find = async (words, wanted) => {
    await page.getByLabel('Find in the tree').fill(words);
    await page.waitForFunction(
      (n) => document.querySelectorAll('[role=treeitem]').length === n,
      wanted.length,
    );
    assert.deepEqual(await rows(page), wanted);
  };
  await find('state:raised', ['1 0', '2 cell 2']);
  await find('1254 characters', ['1 0', '2 cell 1', '3 13 calls', '4 0#7']);
  await find('model:scripted undefined_name', ['1 0', '2 0#15']);
  await find('cost>0.01', []);
  await close(page);
});

test('a link leads to a frame, a call, a cell, and can be copied', async () => {
  const page = await openPage(browser);
  // The mock has no prompts.
  page.mayFail = true;
  await page.goto(`${mock.url}#/run/${EXPLORED}/tree/call/${encodeURIComponent('0#16')}`);
  await page.locator('.detail h2', { hasText: 'Call 0#16' }).waitFor();
  assert.equal(await page.locator('[aria-selected=true] .name').innerText(), '0#16');
  await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
  await page.getByRole('treeitem').filter({ hasText: 'cell 1' }).click();
  await page.locator('.detail h2', { hasText: 'Cell 0:1' }).waitFor();
  const address = `${mock.url}#/run/${EXPLORED}/tree/cell/0%3A1`;
  assert.equal(page.url(), address);
  await page.getByRole('button', { name: 'Copy link' }).click();
  await page.locator('#announcements', { hasText: 'Copied' }).waitFor({ state: 'attached' });
  assert.equal(await page.evaluate(() => navigator.clipboard.readText()), address);
  const code = page.locator('.detail pre.python');
  assert.deepEqual(await code.locator('.py-call').allInnerTexts(), ['chunk', 'llm_query_batched', 'print', 'len']);
  await code.hover();
  await page.getByRole('button', { name: 'Copy', exact: true }).first().click();
  await page.waitForFunction(async (wanted) => (await navigator.clipboard.readText()) === wanted, await code.innerText());
  await shoot(page, 'nested-tree');
  await close(page);
});

test('frames are lanes beside the timeline, and a bar opens what it shows', async () => {
  const page = await open(`#/run/${REVIEW}/timeline`);
  const flame = page.locator('canvas.flame');
  await flame.waitFor();
  assert.match(await flame.getAttribute('aria-label'), /^20 frames over /u);
  await flame.focus();
  await page.keyboard.press('ArrowRight');
  await page.keyboard.press('Enter');
  await page.locator('.detail h2', { hasText: 'Frame 0' }).waitFor();
  await shoot(page, 'flame');
  await close(page);
});

test('the first content is within 180 pixels, on a phone too, and a run without tasks has no plan', async () => {
  for (const viewport of [DESK, PHONE]) {
    const page = await open(`#/run/${EXPLORED}/answer`, { viewport });
    await page.locator('#run-panel .prose').first().waitFor();
    const { y } = await page.locator('#run-panel').boundingBox();
    assert.ok(y <= 180, `${viewport.width}: ${y}`);
    assert.equal(await page.locator('#tab-plan').isVisible(), false);
    await close(page);
  }
  const page = await open(`#/run/${REVIEW}`);
  await page.locator('#tab-plan').waitFor();
  await close(page);
});

test('the list shows strategy and model; without runs it says what to do', async () => {
  const page = await open('');
  const row = page.locator('.run-row', { hasText: 'Review it' });
  await row.waitFor();
  assert.match(await row.innerText(), /00000001 · map · openai\/large/u);
  await page.getByRole('searchbox').fill('no such words');
  await page.getByRole('heading', { name: 'No run matches' }).waitFor();
  await page.getByRole('button', { name: 'Show all runs' }).click();
  await row.waitFor();
  await close(page);
  const empty = await startMock({});
  const other = await openPage(browser);
  await other.goto(empty.url);
  await other.getByRole('heading', { name: 'No runs yet' }).waitFor();
  await other.getByRole('link', { name: 'Ask a question' }).waitFor();
  assert.deepEqual(other.faults, []);
  other.mayFail = true;
  empty.stop();
  await other.getByRole('combobox').selectOption('failed');
  await other.getByRole('heading', { name: 'The server does not respond' }).waitFor();
  await other.context().close();
});

test('axe finds nothing on any page', async () => {
  const tabs = ['answer', 'timeline', 'tree', 'cells', 'findings', 'plan', 'events'];
  const pages = ['#/', '#/new', `#/compare/${REVIEW}/${EXPLORED}`, `#/run/${EXPLORED}/tree/cell/0%3A1`];
  pages.push(...tabs.map((tab) => `#/run/${REVIEW}/${tab}`));
  for (const colorScheme of ['light', 'dark']) {
    const page = await openPage(browser, { colorScheme });
    for (const address of pages) {
      await page.goto('about:blank');
      await page.goto(`${mock.url}${address}`);
      await page.locator('main :is(h1, .prose, .row)').first().waitFor();
      await page.waitForLoadState('networkidle');
      assert.deepEqual(await axe(page), [], `${address} ${colorScheme}`);
    }
    await close(page);
  }
});
