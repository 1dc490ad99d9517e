// The pages of the viewer against a mock: list, form, comparison and tokens; with the keyboard alone, for screen readers, in
// dark mode and on a phone.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import test from 'node:test';
import { openBrowser, openPage, PHONE, shoot } from '../scene/browser.js';
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
    [LARGE]: { events: EXPLORED, row: { question: 'Everything?', state: 'answered', calls: 5000 } },
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

test('the list is filtered, paged and navigated with the keyboard alone', async () => {
  for (let n = 0; n < 60; n += 1)
    mock.runs[`rlm-20250101T0000${String(n).padStart(2, '0')}Z-0000aaaa`] = {
      events: [],
      row: { question: `Older question ${n}`, state: n % 2 ? 'failed: cancelled' : 'answered' },
    };
  const page = await openPage(browser);
  await page.goto(mock.url);
  await page.locator('.run-row').first().waitFor();
  assert.equal(await page.locator('.run-row').count(), 50);
  await shoot(page, 'list-light');
  await page.getByRole('button', { name: 'Older runs' }).click();
  await page.waitForFunction(() => document.querySelectorAll('.run-row').length === 63);
  await page.keyboard.press('/');
  await page.keyboard.type('orders');
  await page.waitForFunction(() => document.querySelectorAll('.run-row').length === 1);
  assert.equal(await page.locator('.run-row th a').innerText(), 'Where do orders go?');
  await page.locator('#run-words').fill('');
  await page.locator('#run-state').selectOption('failed');
  await page.waitForFunction(() => document.querySelectorAll('.run-row').length === 30);
  await page.locator('#run-state').selectOption('');
  await page.waitForFunction(() => document.querySelectorAll('.run-row').length === 50);
  await page.locator('h1').click();
  await page.keyboard.press('j');
  await page.keyboard.press('j');
  assert.equal(await page.evaluate(() => document.activeElement.textContent), 'Where do orders go?');
  await page.keyboard.press('Enter');
  await page.locator('#tab-tree').waitFor();
  assert.ok(page.url().includes(OLD));
  await page.keyboard.press('3');
  assert.equal(await page.evaluate(() => document.activeElement.id), 'tab-tree');
  await page.keyboard.press('ArrowLeft');
  assert.equal(await page.evaluate(() => document.activeElement.id), 'tab-timeline');
  await page.keyboard.press('?');
  await page.locator('dialog.help[open]').first().waitFor();
  await shoot(page, 'help-light');
  await page.keyboard.press('Escape');
  await page.keyboard.press('g');
  await page.keyboard.press('r');
  await page.locator('.run-row').first().waitFor();
  await close(page);
});

test('every view has landmarks, names for its controls, and readable colours', async () => {
  for (const colorScheme of ['light', 'dark']) {
    const page = await openPage(browser, { colorScheme });
    for (const address of [
      '#/',
      '#/new',
      ...['answer', 'timeline', 'tree', 'cells', 'findings', 'plan', 'events'].map((tab) => `#/run/${OLD}/${tab}`),
    ]) {
      await page.goto(`${mock.url}${address}`);
      await page.locator('h1').waitFor();
      await page.waitForTimeout(200);
      assert.deepEqual(await page.evaluate(audit), [], `${colorScheme} ${address}`);
    }
    await close(page);
  }
});

/** Evaluated in the page. */
function audit() {
  const faults = [];
  for (const landmark of ['header', 'nav', 'main', 'footer'])
    if (!document.querySelector(landmark)) faults.push(`no ${landmark}`);
  if (document.querySelectorAll('h1').length !== 1) faults.push('not one h1');
  const named = (element) =>
    element.getAttribute('aria-label') ||
    element.getAttribute('aria-labelledby') ||
    element.textContent.trim() ||
    element.labels?.length > 0;
  for (const element of document.querySelectorAll(
    'main button, main a, main input, main select, main textarea, main canvas, header button, [role=tree], [role=listbox], [role=img]',
  )) {
    if (!named(element)) faults.push(`no name: ${element.outerHTML.slice(0, 100)}`);
  }
  for (const table of document.querySelectorAll('main table'))
    if (!table.caption && !table.closest('.prose')) faults.push('a table without a caption');
  const light = (color) => {
    const [r, g, b] = color
      .match(/[\d.]+/gu)
      .slice(0, 3)
      .map((part) => part / 255)
      .map((part) => (part <= 0.03928 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4));
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const behind = (element) => {
    for (let place = element; place; place = place.parentElement) {
      const color = getComputedStyle(place).backgroundColor;
      if (!color.startsWith('rgba(0, 0, 0, 0')) return color;
    }
    return 'rgb(255, 255, 255)';
  };
  for (const element of document.querySelectorAll('body *')) {
    const isText = Array.from(element.childNodes).some((node) => node.nodeType === 3 && node.textContent.trim() !== '');
    if (
      !isText ||
      element.disabled ||
      element.closest('[hidden], noscript, dialog:not([open]), .unseen, .skip, option')
    )
      continue;
    const [a, b] = [light(getComputedStyle(element).color), light(behind(element))];
    const contrast = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
    if (contrast < 4.5) faults.push(`contrast ${contrast.toFixed(1)}: ${element.textContent.trim().slice(0, 40)}`);
  }
  return faults;
}

test('every control can be reached with Tab and shows its focus', async () => {
  const page = await openPage(browser);
  await page.goto(`${mock.url}#/run/${OLD}/tree`);
  await page.getByRole('treeitem').first().waitFor();
  await page.evaluate(() => document.activeElement.blur());
  const seen = [];
  for (let n = 0; n < 25; n += 1) {
    await page.keyboard.press('Tab');
    seen.push(
      await page.evaluate(() => {
        const element = document.activeElement;
        const style = getComputedStyle(element);
        return {
          name: element.getAttribute('role') ?? element.textContent.trim().slice(0, 20),
          isSeen: element === document.body || style.outlineStyle !== 'none',
        };
      }),
    );
  }
  for (const wanted of ['To the content', 'Runs', 'New run', 'Details', 'tab', 'tree'])
    assert.ok(
      seen.some(({ name }) => name === wanted),
      `${wanted} in ${JSON.stringify(seen)}`,
    );
  assert.deepEqual(
    seen.filter(({ isSeen }) => !isSeen),
    [],
  );
  await close(page);
});

test('a new run: errors are shown at their fields, and a valid form is sent', async () => {
  const page = await openPage(browser);
  await page.goto(`${mock.url}#/new`);
  await page.locator('option[value=repl]').waitFor({ state: 'attached' });
  await page.getByRole('button', { name: 'Start the run' }).click();
  assert.equal(await page.locator('#field-question-fault').innerText(), 'Enter a question.');
  assert.match(await page.locator('#field-paths-fault').innerText(), /Enter a path/u);
  assert.equal(await page.locator('#field-question').getAttribute('aria-invalid'), 'true');
  assert.equal(await page.evaluate(() => document.activeElement.id), 'field-question');
  await shoot(page, 'form-faults-light');
  await page.getByLabel('Question').fill('Where do orders go?');
  await page.getByLabel('Paths').fill('service\n../secret');
  await page.locator('summary').click();
  await page.getByLabel('Maximum calls').fill('-3');
  await page.getByRole('button', { name: 'Start the run' }).click();
  assert.match(await page.locator('#field-limits-calls_max-fault').innerText(), /positive number/u);
  await page.getByLabel('Maximum calls').fill('40');
  await page.getByLabel('Maximum cost, in dollars').fill('0.25');
  mock.refuse = {
    status: 422,
    title: 'refused',
    detail: 'the request has faults',
    errors: [{ field: 'paths', detail: '`../secret` lies outside of every root' }],
  };
  page.mayFail = true;
  await page.getByRole('button', { name: 'Start the run' }).click();
  await page.locator('#field-paths-fault', { hasText: 'outside of every root' }).waitFor();
  page.mayFail = false;
  mock.refuse = null;
  await page.getByLabel('Paths').fill('service');
  await page.getByLabel('Strategy').selectOption('repl');
  await shoot(page, 'form-light');
  await page.getByRole('button', { name: 'Start the run' }).click();
  await page.locator('#tab-answer').waitFor();
  assert.deepEqual(JSON.parse(mock.created.pop().body), {
    question: 'Where do orders go?',
    paths: ['service'],
    strategy: 'repl',
    limits: { calls_max: 40, cost_microusd_max: 250000 },
  });
  await close(page);
});

test('a path is completed as it is typed, with the keyboard alone', async () => {
  mock.paths = ['README.md', 'service/', 'service/login.py', 'service/logs/'];
  const page = await openPage(browser);
  await page.goto(`${mock.url}#/new`);
  await page.getByLabel('Paths').fill('README.md\nservice/lo');
  const offered = page.locator('.offered button');
  await page.waitForFunction(() => document.querySelectorAll('.offered button').length === 2);
  assert.deepEqual(await offered.allInnerTexts(), ['service/login.py', 'service/logs/']);
  await shoot(page, 'form-completion-light');
  await page.keyboard.press('Tab');
  await page.keyboard.press('Enter');
  assert.equal(await page.getByLabel('Paths').inputValue(), 'README.md\nservice/login.py');
  assert.equal(await page.evaluate(() => document.activeElement.id), 'field-paths');
  await page.waitForFunction(() => document.querySelectorAll('.offered button').length === 0);
  await close(page);
});

test('files are uploaded, and the plan is shown first', async () => {
  mock.plan = {
    manifest: [
      { file: 'a/b.py', bytes: 3000, type: 'source_code' },
      { file: 'c.md', bytes: 500, type: 'prose' },
    ],
    tasks: [{ work: { file: 'a/b.py' } }, { work: { files: ['a/b.py', 'c.md'] } }],
    usage_at_most: { input_tokens: 900 },
    cost_microusd_at_most: { 'openai/gpt-5': 4000 },
    warnings: ['One file is large.'],
  };
  const page = await openPage(browser);
  await page.goto(`${mock.url}#/new`);
  await page.getByLabel('Question').fill('What is this?');
  await page.getByLabel('Paths').fill('service');
  await page.getByRole('button', { name: 'Show the plan first' }).click();
  await page.locator('.tile').first().waitFor();
  assert.equal(await page.locator('.tile:not(.folder)').count(), 2);
  assert.deepEqual(await page.locator('.plan tbody tr').first().locator('th, td').allInnerTexts(), [
    'a/b.py',
    '3.0 kB',
    'source_code',
    '2',
    'waiting',
  ]);
  await page.getByLabel('Paths').fill('');
  await page
    .getByLabel('Or upload files')
    .setInputFiles([{ name: 'notes.txt', mimeType: 'text/plain', buffer: Buffer.from('The magic number is 42.') }]);
  await page.getByRole('button', { name: 'Start the run' }).click();
  await page.locator('#tab-answer').waitFor();
  const { type, body } = mock.created.pop();
  assert.match(type, /^multipart\/form-data/u);
  assert.match(
    body,
    /name="request"[\s\S]*"question":"What is this\?"[\s\S]*name="file"; filename="notes\.txt"[\s\S]*The magic number is 42\./u,
  );
  await close(page);
});

test('the tool calls of an agent are shown with their arguments and output', async () => {
  const HOSTILE = '<img src=x onerror="window.owned=1">';
  const [before, behind] = [EXPLORED.slice(0, -2), EXPLORED.slice(-2)];
  const last = before.length;
  const tool = (n, name, asked, said, more = {}) => ({
    seq: last + 1 + n,
    at_ms: before[last - 1].at_ms + n,
    type: 'tool.ran',
    frame: '0',
    tool: n,
    name,
    arguments: { text: asked },
    output: { text: said },
    took_ms: 2,
    ...more,
  });
  mock.runs[OLD].events = [
    ...before,
    tool(0, 'Grep', '{"pattern":"needle"}', `book.md:3: ${HOSTILE}`),
    tool(1, 'Write', '{"path":"output/answer.md"}', 'written', { files: [{ is: 'written', path: 'output/answer.md' }] }),
    tool(2, 'Read', '{"path":"../x"}', 'no such place', { failed: true }),
    ...behind.map((event) => ({ ...event, seq: event.seq + 3 })),
  ];
  const page = await openPage(browser);
  await page.goto(`${mock.url}#/run/${OLD}/cells`);
  await page.getByText('Grep 0!0').waitFor();
  const cards = await page.locator('details.cell').allInnerTexts();
  const [grep, write, refused] = cards.slice(-3);
  assert.match(grep, /Grep 0!0\s+looked · 2 ms[^]*"pattern":"needle"[^]*<img src=x/);
  assert.match(write, /Write 0!1\s+changed 1 file · 2 ms · output\/answer\.md/);
  assert.match(refused, /Read 0!2\s+refused/);
  await page.goto(`${mock.url}#/run/${OLD}/tree`);
  await page.getByRole('treeitem').filter({ hasText: 'output/answer.md' }).click();
  await page.getByRole('heading', { name: 'Write 0!1' }).waitFor();
  assert.equal(await page.evaluate(() => window.owned), undefined);
  await close(page);
});

test('findings: code is in a code font, and the tab, the buttons and the groups show the same numbers', async () => {
  const items = Array.from({ length: 130 }, (_, n) => ({
    severity: n < 120 ? 'high' : 'low',
    content_type: n % 2 ? 'source_code' : 'prose',
    finding: { type: 'bug', summary: `\`f${n}\` is unsafe`, evidence: 'x = 1', location: { file: 'a.py', line_start: n + 1 } },
    places: [],
  }));
  mock.runs[OLD].report = { findings: items };
  const page = await openPage(browser);
  await page.goto(`${mock.url}#/run/${OLD}/findings`);
  await page.locator('.finding').nth(99).waitFor();
  assert.equal(await page.locator('#tab-findings .n').innerText(), '130');
  assert.deepEqual(await page.locator('.chips button').allInnerTexts(), ['All 130', 'High 120', 'Low 10']);
  assert.deepEqual(await page.locator('.group h3').allInnerTexts(), ['High 120']);
  assert.equal(await page.locator('.finding h4 code').first().innerText(), 'f0');
  assert.deepEqual(await page.locator('.finding').nth(0).locator('blockquote').allInnerTexts(), ['x = 1']);
  assert.deepEqual(await page.locator('.finding').nth(1).locator('pre').allInnerTexts(), ['x = 1']);
  await close(page);
});

test('two runs are compared: answers, figures, trees, findings', async () => {
  const found = (summary, severity, file) => ({
    severity,
    finding: { type: 'bug', summary, location: { file, line_start: 3 } },
    places: [],
  });
  mock.runs[LIVE].events = REVIEW;
  mock.runs[LIVE].report = { findings: [found('A', 'high', 'a.py'), found('B', 'low', 'b.py')] };
  mock.runs[OLD].report = { findings: [found('b!', 'low', 'b.py'), found('C calls `eval(x)`', 'medium', 'c.py')] };
  const page = await openPage(browser);
  await page.goto(mock.url);
  for (const run of [LIVE, OLD]) await page.locator(`input[value="${run}"]`).check();
  await page.getByRole('button', { name: 'Compare' }).click();
  await page.locator('.thirds article').first().waitFor();
  assert.deepEqual(await page.locator('.thirds h3').allInnerTexts(), [
    'Only in 00000001 1',
    'In both 1',
    'Only in 00000002 1',
  ]);
  const row = (name) =>
    page
      .locator('.figures tbody tr', { has: page.locator('th', { hasText: new RegExp(`^${name}$`, 'u') }) })
      .locator('td')
      .allInnerTexts();
  assert.deepEqual(await row('Calls'), ['20', '17', '−15 %']);
  assert.deepEqual(await row('Strategy'), ['map', 'repl', '']);
  const roots = page.locator('.tree-side [role=treeitem][aria-level="1"]');
  assert.deepEqual(await roots.locator('.name').allInnerTexts(), ['0', '0']);
  assert.deepEqual(
    (await roots.locator('.what').allInnerTexts()).map((what) => what.split(' · ')[0]),
    ['map', 'repl'],
  );
  assert.deepEqual(await page.locator('.thirds li code').allInnerTexts(), ['a.py:3', 'b.py:3', 'eval(x)', 'c.py:3']);
  await shoot(page, 'compare-light');
  await page.locator('.tree-side').first().scrollIntoViewIfNeeded();
  await shoot(page, 'compare-trees-light');
  await page.setViewportSize(PHONE);
  await shoot(page, 'compare-phone');
  await roots.nth(1).click();
  await page.getByRole('heading', { name: 'Frame 0', exact: true }).waitFor();
  assert.ok(page.url().endsWith(`#/run/${OLD}/tree/frame/0`), page.url());
  await close(page);
});

test('errors are called recovered only if the run recovered, and a token is requested only if needed', async () => {
  const errors = [{ call: '0#0', code: 'model-refused', message: 'no' }];
  mock.runs[OLD].report = { findings: [], errors, outcome: { is: 'failed' } };
  mock.runs[LARGE].report = { findings: [], errors, outcome: { is: 'answered' } };
  const page = await openPage(browser);
  for (const [run, title] of [
    [OLD, 'Errors 1'],
    [LARGE, 'Recovered errors 1'],
  ]) {
    await page.goto(`${mock.url}#/run/${run}/answer`);
    await page.locator('summary', { hasText: new RegExp(`^${title}$`, 'u') }).waitFor();
  }
  assert.ok(await page.locator('#open-token').isHidden());
  await close(page);
});

test('a token is removed from the address, stored for the tab, and sent', async () => {
  mock.token = 'spk_secret';
  const page = await openPage(browser);
  await page.goto(`${mock.url}#token=spk_secret&/run/${OLD}/cells`);
  await page.locator('.cell').first().waitFor();
  await page.locator('#open-token').waitFor();
  assert.ok(!page.url().includes('spk_secret') && page.url().endsWith(`#/run/${OLD}/cells`), page.url());
  const secret = mock.requests.filter((request) => request.path.startsWith('/v1'));
  assert.ok(
    secret.length > 0 &&
      secret.every(
        (request) => request.headers.authorization === 'Bearer spk_secret' && !request.query.includes('spk_secret'),
      ),
  );
  const other = await openPage(browser);
  other.mayFail = true;
  await other.goto(mock.url);
  await other.locator('[role=alert]', { hasText: 'This server requires a token' }).waitFor();
  await other.getByRole('button', { name: 'Enter the token' }).click();
  await other.getByLabel('Bearer token').fill('spk_secret');
  await other.keyboard.press('Enter');
  await other.locator('.run-row').first().waitFor();
  await other.context().close();
  await close(page);
});

test('dark and phone: list and form', async () => {
  for (const [name, options] of [
    ['dark', { colorScheme: 'dark' }],
    ['phone', { viewport: PHONE }],
  ]) {
    const page = await openPage(browser, options);
    for (const [view, address] of [
      ['list', '#/'],
      ['form', '#/new'],
    ]) {
      await page.goto(`${mock.url}${address}`);
      await page
        .locator(view === 'list' ? '.run-row' : '.new-run')
        .first()
        .waitFor();
      const wide = await page.evaluate(
        () => document.documentElement.scrollWidth - document.documentElement.clientWidth,
      );
      assert.equal(wide, 0, `${view} is not wider than a ${name} page`);
      await shoot(page, `${view}-${name}`);
    }
    await close(page);
  }
});
