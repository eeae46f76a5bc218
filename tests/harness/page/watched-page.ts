import type { Browser, BrowserContextOptions, Page } from 'playwright-core';

/** A page of a browser, with all that it complained of. */
export interface WatchedPage {
  readonly page: Page;
  /** Errors in its console, what its policy forbade, and what its scripts threw. */
  readonly complaints: readonly string[];
  /** How often a document was loaded. */
  readonly loads: () => number;
}

/** What the browser says of each answer 404, or none; what the page makes of it is for the test to see. */
const unanswered = 'Failed to load resource';

export async function openPage(
  browser: Browser,
  url: string,
  options: BrowserContextOptions = {},
): Promise<WatchedPage> {
  const context = await browser.newContext({ viewport: { width: 1440, height: 900 }, ...options });
  const page = await context.newPage();
  page.setDefaultTimeout(20_000);
  const complaints: string[] = [];
  let loads = 0;
  page.on('console', (message) => {
    if (message.type() === 'error' && !message.text().startsWith(unanswered)) complaints.push(message.text());
  });
  page.on('pageerror', (error) => complaints.push(`thrown: ${error.message}`));
  page.on('dialog', (dialog) => {
    complaints.push(`dialog: ${dialog.message()}`);
    void dialog.dismiss();
  });
  page.on('load', () => {
    loads++;
  });
  await page.goto(url);
  return { page, complaints, loads: () => loads };
}
