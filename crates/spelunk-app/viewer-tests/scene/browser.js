// Browser: a headless Chromium with a profile of its own. Every page fails its test if it logs an error, breaks its policy or
// asks anyone but its own server for anything.

import { execFileSync } from 'node:child_process';
import { mkdirSync } from 'node:fs';
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

/** A page that keeps a list of everything that went wrong on it. */
export async function openPage(browser, { viewport = DESK, colorScheme = 'light', reducedMotion = 'reduce' } = {}) {
  const context = await browser.newContext({ viewport, colorScheme, reducedMotion });
  const page = await context.newPage();
  page.setDefaultTimeout(10000);
  page.faults = [];
  page.asked = [];
  page.on('console', (message) => message.type() === 'error' && !page.mayFail && page.faults.push(message.text()));
  page.on('pageerror', (error) => page.faults.push(String(error)));
  page.on('request', (request) => page.asked.push(request.url()));
  return page;
}

/** A picture for people to look at. */
export async function shoot(page, name) {
  mkdirSync(SHOTS, { recursive: true });
  await page.screenshot({ path: path.join(SHOTS, `${name}.png`), fullPage: false });
}
