// A run watched live, against a server whose every event the test controls: updates, broken connections, a reload in the
// middle, and ten thousand events.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import test from 'node:test';
import { openBrowser, openPage, shoot } from '../scene/browser.js';
import { startMock } from '../scene/mock.js';

const JOURNALS = path.join(import.meta.dirname, '..', 'journals');
const read = (name) =>
  readFileSync(path.join(JOURNALS, `${name}.jsonl`), 'utf8')
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line));
const REVIEW = read('review-by-analysts');
const EXPLORED = read('explored-with-code');
const [LIVE, OLD, LARGE] = [
  'rlm-20260301T120000Z-00000001',
  'rlm-20260228T120000Z-00000002',
  'rlm-20260227T120000Z-00000003',
];

/** Many calls, a hundred at a time, in frames of fifty. */
function manyEvents(n) {
  const events = [{ ...REVIEW[0], seq: 1, at_ms: 1000 }];
  const add = (at, frame, type, more) =>
    events.push({ seq: events.length + 1, at_ms: 1000 + at, frame, type, ...more });
  add(0, '0', 'frame.opened', { strategy: 'map', question: { text: 'Everything?' } });
  for (let idx = 0; events.length < n - 2; idx += 1) {
    const frame = `0.${Math.floor(idx / 20)}`;
    if (idx % 20 === 0)
      add(idx, frame, 'frame.opened', {
        strategy: 'analyst',
        question: { text: 'Everything?' },
        note: { text: `Part ${idx} of 9 of \`a.log\`: lines 1 to 9.` },
      });
    add(idx, frame, 'call.started', {
      call: `${frame}#${idx % 20}`,
      model: 'openai/scripted',
      prompt: 'a'.repeat(64),
      text: { text: '{"system":{"text":"s"},"messages":[]}' },
    });
    if (idx >= 40) settle(add, idx - 40, idx);
  }
  add(9000, '0', 'frame.closed', {
    outcome: { is: 'answered', answer: { text: 'All of it.' }, citations: [], grounding: { is: 'uncited' } },
  });
  add(9001, '0', 'run.finished', { outcome: { is: 'answered' } });
  return events;
}

function settle(add, idx, at) {
  const frame = `0.${Math.floor(idx / 20)}`;
  add(at, frame, 'call.settled', {
    call: `${frame}#${idx % 20}`,
    outcome: {
      is: 'replied',
      reply: { text: 'ok' },
      stop: 'finished',
      usage: { input_tokens: 100, output_tokens: 10, cost_microusd: 30 },
    },
    served: 'live',
  });
}

const MANY = manyEvents(10000);
let [browser, mock] = [];
test.before(async () => {
  browser = await openBrowser();
});
test.after(async () => {
  await browser.close();
});
test.beforeEach(async () => {
  mock = await startMock({
    [LIVE]: { events: REVIEW.slice(0, 30), row: { question: 'Review this service', state: 'open', calls: 3 } },
    [OLD]: {
      events: EXPLORED,
      row: { question: 'Where do orders go?', state: 'answered', calls: 17, cost_microusd: 120000, active_ms: 4200 },
    },
    [LARGE]: { events: MANY, row: { question: 'Everything?', state: 'answered', calls: 5000 } },
  });
});
test.afterEach(() => mock.stop());

async function close(page) {
  assert.deepEqual(page.faults, []);
  assert.deepEqual(
    page.requestUrls.filter((url) => !url.startsWith(mock.url) && !url.startsWith('blob:')),
    [],
  );
  await page.context().close();
}

const meters = (page) => page.locator('.meters').innerText();
const nEvents = async (page) => (await page.locator('#tab-events .n').innerText()).replace(',', '');
const until = (page, n) =>
  page.waitForFunction(
    (wanted) => document.querySelector('#tab-events .n')?.textContent.replace(',', '') === String(wanted),
    n,
  );

test('events appear as they happen, and the end is announced', async () => {
  const page = await openPage(browser);
  await page.goto(`${mock.url}#/run/${LIVE}/tree`);
  await until(page, 30);
  assert.equal(await page.locator('.state').first().innerText(), 'running');
  assert.equal(await page.locator('.link').innerText(), 'live');
  await page.getByRole('treeitem').first().waitFor();
  mock.push(LIVE, ...REVIEW.slice(30, 60));
  await until(page, 60);
  await shoot(page, 'live-light');
  mock.push(LIVE, ...REVIEW.slice(60));
  await until(page, REVIEW.length);
  await page.waitForFunction(() => document.getElementById('announcements').textContent === 'The run is answered');
  assert.match(await meters(page), /Calls\s+20 of 500/u);
  await page.waitForTimeout(800);
  assert.equal(
    mock.requests.filter((request) => request.path.endsWith('/events')).length,
    1,
    'no request is sent after the end',
  );
  await close(page);
});

test('events between press and release do not lose the click', async () => {
  const page = await openPage(browser);
  await page.goto(`${mock.url}#/run/${LIVE}/tree`);
  await until(page, 30);
  const row = page.getByRole('treeitem').nth(1);
  const name = await row.locator('.name').innerText();
  await row.hover();
  await page.mouse.down();
  mock.push(LIVE, ...REVIEW.slice(30, 60));
  await until(page, 60);
  await page.mouse.up();
  await page.waitForFunction(
    (wanted) => document.querySelector('[role=treeitem][aria-selected=true] .name')?.textContent === wanted,
    name,
  );
  await close(page);
});

test('while analysts read, the page shows their progress and findings', async () => {
  const page = await openPage(browser);
  await page.goto(`${mock.url}#/run/${LIVE}/answer`);
  mock.push(LIVE, ...REVIEW.slice(30, 90));
  await until(page, 90);
  const nDone = REVIEW.slice(0, 90).filter((event) => event.type === 'task.reported').length;
  assert.equal(await page.locator('progress').getAttribute('value'), String(nDone));
  assert.match(await page.locator('.card').innerText(), /3 findings \(2 high, 1 medium\)/u);
  await shoot(page, 'live-answer-light');
  await close(page);
});

test('the details of a frame follow the run', async () => {
  const page = await openPage(browser);
  await page.goto(`${mock.url}#/run/${LIVE}/tree/frame/0`);
  await until(page, 30);
  const facts = page.locator('.detail .facts');
  assert.match(await facts.innerText(), /State\s+open/u);
  mock.push(LIVE, ...REVIEW.slice(30));
  await until(page, REVIEW.length);
  assert.match(await facts.innerText(), /State\s+answered, 6 cited[^]*Calls\s+0 own, 20 in all\s+Tokens\s+0 own, 22\.4k in all/u);
  assert.equal(await page.locator('.detail h3', { hasText: 'Answer' }).count(), 1);
  await close(page);
});

test('a reply is shown while it is streamed', async () => {
  const page = await openPage(browser);
  await page.goto(`${mock.url}#/run/${LIVE}/answer`);
  await until(page, 30);
  const { call, frame } = REVIEW.slice(0, 30)
    .filter((event) => event.type === 'call.started')
    .pop();
  mock.push(
    LIVE,
    { seq: 30, at_ms: REVIEW[29].at_ms, frame, type: 'call.streamed', call, text: 'It seems that <b>' },
    { seq: 30, at_ms: REVIEW[29].at_ms, frame, type: 'call.streamed', call, text: 'orders' },
  );
  await page.locator('pre.stream', { hasText: 'It seems that <b>orders' }).waitFor();
  assert.equal(await nEvents(page), '30', 'what is not recorded is not counted');
  await close(page);
});

test('after a disconnect it continues after the last event that it received', async () => {
  const page = await openPage(browser);
  page.mayFail = true;
  await page.goto(`${mock.url}#/run/${LIVE}`);
  await until(page, 30);
  mock.cut();
  await page.locator('.link', { hasText: 'connection lost' }).waitFor();
  mock.push(LIVE, ...REVIEW.slice(30, 50));
  await until(page, 50);
  const requests = mock.requests.filter((request) => request.path.endsWith('/events'));
  assert.deepEqual(
    [requests[0], requests[requests.length - 1]].map((request) => request.headers['last-event-id']),
    ['0', '30'],
  );
  mock.cut();
  mock.push(LIVE, ...REVIEW.slice(50));
  await until(page, REVIEW.length);
  assert.match(await meters(page), /Calls\s+20 of 500/u, 'nothing was lost or counted twice');
  page.mayFail = false;
  await close(page);
});

test('a reload in the middle shows the same view again', async () => {
  const page = await openPage(browser);
  await page.goto(`${mock.url}#/run/${LIVE}`);
  await until(page, 30);
  await page.locator('#tab-timeline').click();
  const before = await meters(page);
  await page.reload();
  await until(page, 30);
  assert.equal(await page.locator('[role=tab][aria-selected=true]').getAttribute('id'), 'tab-timeline');
  assert.equal((await meters(page)).split('Time')[0], before.split('Time')[0]);
  await close(page);
});

test('ten thousand events stay smooth', async () => {
  const page = await openPage(browser);
  await page.goto(mock.url);
  await page.evaluate(() => {
    window.longest = 0;
    let last = performance.now();
    const look = (now) => {
      window.longest = Math.max(window.longest, now - last);
      last = now;
      requestAnimationFrame(look);
    };
    requestAnimationFrame(look);
  });
  const began = Date.now();
  await page.evaluate((id) => {
    location.hash = `#/run/${id}/tree`;
  }, LARGE);
  await until(page, MANY.length);
  const tookMs = Date.now() - began;
  const rows = await page.getByRole('treeitem').count();
  assert.ok(rows < 80, `${rows} rows are elements`);
  for (const tab of ['timeline', 'events', 'tree']) {
    await page.locator(`#tab-${tab}`).click();
    await page.locator('.windowed .row').first().waitFor();
    await page.locator('.windowed').focus();
    await page.keyboard.press('End');
    await page.waitForFunction(
      () =>
        document.querySelector('.windowed .row.at')?.getAttribute('aria-posinset') ===
        document.querySelector('.windowed .row').getAttribute('aria-setsize'),
    );
    await shoot(page, `large-${tab}`);
  }
  const longest = await page.evaluate(() => window.longest);
  const nElements = await page.evaluate(() => document.querySelectorAll('*').length);
  console.log(`10,000 events: ${tookMs} ms to show, longest picture ${Math.round(longest)} ms, ${nElements} elements`);
  assert.ok(nElements < 1500, `${nElements} elements`);
  assert.match(await meters(page), /Calls\s+\d{4}/u);
  await close(page);
});

test('an idle run can be resumed, and is then watched again', async () => {
  mock.runs[LIVE].isIdle = true;
  const page = await openPage(browser);
  await page.goto(`${mock.url}#/run/${LIVE}`);
  await page.locator('.link', { hasText: 'not in progress' }).waitFor();
  assert.equal(await page.getByRole('button', { name: 'Cancel' }).count(), 0);
  await page.getByRole('button', { name: 'Resume' }).click();
  await page.locator('.link', { hasText: 'live' }).waitFor();
  assert.equal(mock.done, `resume ${LIVE}`);
  mock.push(LIVE, ...REVIEW.slice(30));
  await until(page, REVIEW.length);
  await page.getByRole('button', { name: 'Details' }).click();
  await page.getByRole('button', { name: 'Report .html' }).waitFor();
  assert.equal(await page.getByRole('button', { name: 'Resume' }).count(), 0);
  await close(page);
});

test('a run that does not exist is reported once', async () => {
  const page = await openPage(browser);
  page.mayFail = true;
  await page.goto(`${mock.url}#/run/rlm-20260101T000000Z-ffffffff`);
  await page.locator('[role=alert]', { hasText: 'There is no such run' }).waitFor();
  await page.getByRole('link', { name: 'All runs' }).waitFor();
  await page.waitForTimeout(1200);
  assert.equal(mock.requests.filter((request) => request.path.endsWith('/events')).length, 1);
  page.mayFail = false;
  await close(page);
});
