import type { Browser, BrowserContextOptions, Page } from 'playwright-core';

/** A browser page that records its errors. */
export interface WatchedPage {
  readonly page: Page;
  /** Errors in the browser console, violations of the content security policy, and uncaught exceptions. */
  readonly errors: readonly string[];
  /** Number of document loads. */
  readonly loads: () => number;
}

/** The browser logs this for failed requests, which tests cause on purpose. */
const failedRequest = 'Failed to load resource';

export async function openPage(
  browser: Browser,
  url: string,
  options: BrowserContextOptions = {},
): Promise<WatchedPage> {
  const context = await browser.newContext({ viewport: { width: 1440, height: 900 }, ...options });
  const page = await context.newPage();
  page.setDefaultTimeout(120_000);
  const errors: string[] = [];
  let loads = 0;
  page.on('console', (message) => {
    if (message.type() === 'error' && !message.text().startsWith(failedRequest)) errors.push(message.text());
  });
  page.on('pageerror', (error) => errors.push(`uncaught: ${error.message}`));
  page.on('dialog', (dialog) => {
    errors.push(`dialog: ${dialog.message()}`);
    void dialog.dismiss();
  });
  page.on('load', () => {
    loads++;
  });
  await page.goto(url);
  return { page, errors, loads: () => loads };
}
