// Picture: the demo's run in the viewer, as shown in the README. `.ci/picture` calls it with the exported page and the
// output file.

import { pathToFileURL } from 'node:url';
import { openBrowser, openPage } from './scene/browser.js';

const [exported, picture] = process.argv.slice(2);
const browser = await openBrowser();
const page = await openPage(browser, { viewport: { width: 1120, height: 640 } });
await page.goto(`${pathToFileURL(exported)}#/run/${process.env.RUN ?? ''}`);
await page.locator('#tab-tree').click();
await page.getByRole('treeitem').filter({ hasText: 'cell' }).first().click();
await page.screenshot({ path: picture });
await browser.close();
