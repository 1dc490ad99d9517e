// Browser: a headless Chromium with its own profile. A test fails if a page logs an error, violates its policy or sends a
// request to another server.

import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import { chromium } from 'playwright-core';

const FLAGS = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
];
const AXE = createRequire(import.meta.url).resolve('axe-core/axe.min.js');
const SHOTS = path.join(import.meta.dirname, '..', 'shots');
export const DESK = { width: 1280, height: 900 };
export const PHONE = { width: 390, height: 844 };

/** Starts it. */
export async function openBrowser() {
  const executablePath =
    process.env.CHROMIUM ??
    execFileSync('sh', ['-c', 'command -v chromium || command -v chromium-browser'], { encoding: 'utf8' }).trim();
  return chromium.launch({ executablePath, headless: true, args: FLAGS });
}

/** A page that records its errors in `faults` and its requests in `requestUrls`. */
export async function openPage(browser, { viewport = DESK, colorScheme = 'light', reducedMotion = 'reduce' } = {}) {
  const context = await browser.newContext({ viewport, colorScheme, reducedMotion });
  const page = await context.newPage();
  page.setDefaultTimeout(10000);
  page.faults = [];
  page.requestUrls = [];
  page.on('console', (message) => message.type() === 'error' && !page.mayFail && page.faults.push(message.text()));
  page.on('pageerror', (error) => page.faults.push(String(error)));
  page.on('request', (request) => page.requestUrls.push(request.url()));
  return page;
}

/** Takes a screenshot for people to review. */
export async function shoot(page, name) {
  mkdirSync(SHOTS, { recursive: true });
  await page.screenshot({ path: path.join(SHOTS, `${name}.png`), fullPage: false });
}

/** The violations that axe finds. It runs in an isolated world, to which the page's policy does not apply. */
export async function axe(page) {
  const session = await page.context().newCDPSession(page);
  const { frameTree } = await session.send('Page.getFrameTree');
  const { executionContextId: contextId } = await session.send('Page.createIsolatedWorld', {
    frameId: frameTree.frame.id,
    worldName: 'axe',
  });
  await session.send('Runtime.evaluate', { contextId, expression: readFileSync(AXE, 'utf8') });
  const { result, exceptionDetails } = await session.send('Runtime.evaluate', {
    contextId,
    expression: 'axe.run(document)',
    awaitPromise: true,
    returnByValue: true,
  });
  if (exceptionDetails) throw new Error(exceptionDetails.exception?.description ?? exceptionDetails.text);
  await session.detach();
  const { violations } = result.value;
  return violations.map(({ id, nodes }) => `${id}: ${nodes.map((node) => node.html).slice(0, 3).join(' ')}`);
}
