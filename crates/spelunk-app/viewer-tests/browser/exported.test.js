// The exported file: opened from disk, complete, and safe whatever its documents contain.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import test from 'node:test';
import { pathToFileURL } from 'node:url';
import { openBrowser, openPage, PHONE, shoot } from '../scene/browser.js';
import { exploringRun, exportPage, HOSTILE, newScene, reviewRun, spelunk } from '../scene/runs.js';

const scene = newScene();
let [browser, review, explored, demo] = [];

test.before(async () => {
  browser = await openBrowser();
  review = await exportPage(scene, await reviewRun(scene));
  explored = await exportPage(scene, await exploringRun(scene));
  await spelunk(scene, ['demo']);
  demo = `${scene.root}/demo.html`;
  await spelunk(scene, ['run', 'export', '--html', demo]);
});
test.after(async () => {
  await browser.close();
  scene.remove();
});

async function open(file, tab, options) {
  const page = await openPage(browser, options);
  await page.goto(`${pathToFileURL(file)}#/run/x/${tab}`);
  await page.locator('.state').first().waitFor();
  return page;
}

async function close(page) {
  assert.deepEqual(page.faults, []);
  assert.deepEqual(
    page.requestUrls.filter((url) => !url.startsWith('file:')),
    [],
    'no request was sent',
  );
  assert.equal(await page.evaluate(() => window.owned), undefined, 'no word of a document ran');
  await page.context().close();
}

test('a review shows its answer, and each citation opens the source with the quote marked', async () => {
  const page = await open(review, 'answer');
  assert.equal(await page.locator('h1').innerText(), 'Review this service for security problems');
  assert.equal(await page.locator('.state').first().innerText(), 'answered');
  await page.locator('.prose .place', { hasText: 'login.py:4' }).first().click();
  const mark = page.locator('dialog[open] mark');
  assert.equal(await mark.innerText(), "db.run('select ' + name)");
  await shoot(page, 'source-light');
  await page.keyboard.press('Escape');
  assert.equal(await page.locator('dialog[open]').count(), 0);
  await shoot(page, 'answer-light');
  await close(page);
});

test('the file works inside a notebook, in a frame that cannot reach it', async () => {
  const page = await openPage(browser);
  await page.goto('about:blank');
  const source = `data:text/html;charset=utf-8;base64,${readFileSync(review).toString('base64')}`;
  await page.evaluate((src) => {
    const frame = Object.assign(document.createElement('iframe'), { src });
    frame.setAttribute('sandbox', 'allow-scripts');
    frame.style = 'width: 100%; height: 40em';
    document.body.append(frame);
  }, source);
  const frame = page.frameLocator('iframe');
  assert.equal(await frame.locator('h1').innerText(), 'Review this service for security problems');
  await frame.getByRole('tab', { name: 'Findings' }).click();
  await frame.locator('.finding').first().waitFor();
  assert.equal(await frame.locator('.finding').count(), 6);
  await frame.getByRole('tab', { name: 'Answer' }).click();
  await frame.locator('.prose .place', { hasText: 'login.py:4' }).first().click();
  assert.equal(await frame.locator('dialog[open] mark').innerText(), "db.run('select ' + name)");
  assert.deepEqual(page.faults, []);
  await page.context().close();
});

test('findings are shown by severity and by file, filtered by words', async () => {
  const page = await open(review, 'findings');
  await page.locator('.finding').first().waitFor();
  assert.deepEqual(await page.locator('.chips button').allInnerTexts(), ['All 6', 'High 2', 'Medium 2', 'Low 2']);
  await page.locator('.chips button', { hasText: 'High' }).click();
  assert.equal(await page.locator('.finding').count(), 2);
  await page.locator('.chips button', { hasText: 'All' }).click();
  await page.getByLabel('Group by').selectOption('file');
  assert.deepEqual(await page.locator('.group h3').allInnerTexts(), [
    'data/orders.csv 1',
    'login.py 3',
    'logs/gateway.log 1',
    'settings.toml 1',
  ]);
  await page.getByLabel('Find in findings').fill('ninth');
  assert.equal(await page.locator('.finding').count(), 1);
  await page.getByLabel('Find in findings').fill('trusted');
  assert.ok((await page.locator('.finding h4').innerText()).includes(HOSTILE), 'as text');
  await page.getByLabel('Find in findings').fill('');
  await shoot(page, 'findings-light');
  await close(page);
});

test('the plan is a treemap, and a table shows the same data', async () => {
  const page = await open(review, 'plan');
  await page.locator('.tile').first().waitFor();
  assert.equal(await page.locator('.tile:not(.folder)').count(), 8);
  assert.match(await page.locator('.treemap').getAttribute('aria-label'), /8 documents/u);
  const cells = await page.locator('.plan tbody tr').first().locator('th, td').allInnerTexts();
  assert.deepEqual([cells[0], cells[2], cells[4]], ['logs/gateway.log', 'log', 'done']);
  await shoot(page, 'plan-light');
  await close(page);
});

test('the tree opens a call with its prompt and its reply', async () => {
  const page = await open(explored, 'tree');
  await page.getByRole('tree').focus();
  await page.keyboard.press('j');
  await page.keyboard.press('Enter');
  await page.locator('.detail h2', { hasText: 'Call 0#0' }).waitFor();
  await page.locator('.detail details', { hasText: 'User' }).locator('pre').first().waitFor();
  assert.match(await page.locator('.detail').innerText(), /Where do orders go/u);
  assert.match(await page.locator('.detail details', { hasText: 'Reply' }).innerText(), /hits = grep\("billing"\)/u);
  assert.match(await page.locator('.row.cell').first().innerText(), /hits = grep/u);
  await shoot(page, 'tree-light');
  await page.keyboard.press('Home');
  await page.keyboard.press('ArrowLeft');
  assert.equal(await page.getByRole('treeitem').count(), 1, 'the branch is closed');
  await close(page);
});

test('cells show their code, output and errors', async () => {
  const page = await open(explored, 'cells');
  await page.locator('.cell pre').first().waitFor();
  assert.equal(await page.locator('.cell').count(), 4);
  assert.match(await page.locator('.cell.raised').innerText(), /NameError/u);
  assert.match(await page.locator('.cell').nth(1).innerText(), /llm_query_batched[\s\S]*replies so far/u);
  await shoot(page, 'cells-light');
  await close(page);
});

test('the timeline shows parallel calls, and the keyboard moves between them', async () => {
  const page = await open(explored, 'timeline');
  const canvas = page.locator('canvas.timeline:not(.flame)');
  const label = await canvas.getAttribute('aria-label');
  const peak = Number(/at most (\d+) at once/u.exec(label)[1]);
  assert.ok(peak > 3, label);
  const inked = await canvas.evaluate(
    (element) => new Set(element.getContext('2d').getImageData(0, 0, element.width, element.height).data).size,
  );
  assert.ok(inked > 5, 'something is drawn');
  await canvas.focus();
  await page.keyboard.press('ArrowRight');
  await page.keyboard.press('ArrowRight');
  await page.keyboard.press('Enter');
  await page.locator('.detail h2', { hasText: 'Call 0#1' }).waitFor();
  await page.keyboard.press('+');
  await shoot(page, 'timeline-light');
  await close(page);
});

test('a run that crashed and was resumed has no gap and says so', async () => {
  const page = await open(demo, 'timeline');
  await page.getByRole('button', { name: 'Details' }).click();
  assert.match(await page.locator('.facts').first().innerText(), /Resumed\s+1 time/u);
  assert.match(await page.locator('.meters').innerText(), /Cost\s+\$0\.\d+ of \$5\.00/u);
  await close(page);
});

test('dark mode and phone width: every view fits', async () => {
  for (const [name, options] of [
    ['dark', { colorScheme: 'dark' }],
    ['phone', { viewport: PHONE }],
  ]) {
    const page = await open(review, 'answer', options);
    for (const [number, tab] of ['answer', 'timeline', 'tree', 'cells', 'findings', 'plan', 'events'].entries()) {
      await page.keyboard.press(String(number + 1));
      await page.locator(`#tab-${tab}[aria-selected=true]`).waitFor();
      const wide = await page.evaluate(
        () => document.documentElement.scrollWidth - document.documentElement.clientWidth,
      );
      assert.equal(wide, 0, `${tab} is not wider than a ${name} page`);
      await shoot(page, `${tab}-${name}`);
    }
    const background = await page.evaluate(() => getComputedStyle(document.body).backgroundColor);
    assert.equal(background, name === 'dark' ? 'rgb(20, 22, 26)' : 'rgb(251, 250, 248)');
    await close(page);
  }
});

test('the theme can be chosen against the system', async () => {
  const page = await open(review, 'answer');
  const background = () => page.evaluate(() => getComputedStyle(document.body).backgroundColor);
  await page.keyboard.press('t');
  assert.equal(await background(), 'rgb(251, 250, 248)');
  await page.keyboard.press('t');
  assert.equal(await background(), 'rgb(20, 22, 26)');
  assert.equal(await page.locator('#theme').getAttribute('aria-label'), 'Theme: dark');
  await close(page);
});

test('the policy of the file allows only its own script to run', async () => {
  const text = readFileSync(review, 'utf8');
  assert.match(text, /default-src 'none'; script-src 'sha256-[\w+/]+=*'; style-src 'sha256-[\w+/]+=*'/u);
  assert.doesNotMatch(text, /https?:\/\/(?!www\.w3\.org|127\.0\.0\.1)/u);
  const page = await open(review, 'answer');
  page.mayFail = true;
  await page.evaluate(() => {
    const script = document.createElement('script');
    script.textContent = 'window.owned = 2';
    document.body.append(script);
  });
  page.mayFail = false;
  await close(page);
});
