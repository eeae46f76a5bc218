import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Browser, BrowserContextOptions, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { accessibilityOf } from './harness/page/accessibility.ts';
import { startChromium } from './harness/page/chromium.ts';
import { openRecordingPage } from './harness/page/opened-page.ts';
import { type Picture, picturesOf } from './harness/page/pictures.ts';
import { incident, recordIncident } from './harness/page/planted-incident.ts';
import { openPage, type WatchedPage } from './harness/page/watched-page.ts';

/** The page of a recording in which an incident is planted, as the pictures of the docs show it. */
let directory: string;
let browser: Browser;
let served: Awaited<ReturnType<typeof openRecordingPage>>;
let pictures: readonly Picture[];
let watched: WatchedPage | undefined;

beforeAll(async () => {
  directory = mkdtempSync(join(tmpdir(), 'sluice-planted-'));
  await recordIncident(join(directory, 'recording'));
  [browser, served] = await Promise.all([startChromium(), openRecordingPage(join(directory, 'recording'))]);
  pictures = await picturesOf(served.url);
});
afterEach(async () => {
  const errors = watched?.errors ?? [];
  await watched?.page.context().close();
  watched = undefined;
  expect(errors).toEqual([]);
});
afterAll(async () => {
  await browser?.close();
  await served?.stop();
  rmSync(directory, { recursive: true });
});

async function open(path: string, options: BrowserContextOptions = {}): Promise<Page> {
  watched = await openPage(browser, served.url + path, { timezoneId: 'UTC', locale: 'en-GB', ...options });
  return watched.page;
}

const picture = (name: string) => pictures.find((one) => one.name === name) ?? expect.unreachable(name);
const wait = (actual: () => unknown) => expect.poll(actual);
const width = (page: Page) => page.evaluate('document.documentElement.scrollWidth');
const queryOf = (page: Page) => Object.fromEntries(new URL(page.url()).searchParams);

const names = ['console-problems', 'console-outages', 'console-services', 'console-clusters', 'console-timeline'];

describe.each(names)('%s', (name) => {
  test.each(['dark', 'light'] as const)('is accessible in the theme %s', async (theme) => {
    const { path, shows } = picture(name);
    expect(await accessibilityOf(browser, served.url + path, shows, theme)).toEqual([]);
  });

  test.each([1_400, 800, 390])('fits into %d pixels', async (pixels) => {
    const { path, shows } = picture(name);
    const page = await open(path, { viewport: { width: pixels, height: 800 } });
    await page.locator(shows).first().waitFor({ state: 'attached' });
    expect(await width(page)).toBe(pixels);
  });
});

describe('the map of problems', () => {
  /** The number of problems of each cell, - without any, / without a recording. */
  async function cells(page: Page, cluster: string): Promise<string> {
    const row = page.locator('.heat .row', { hasText: cluster }).locator('.cells > *');
    const found = await Promise.all(
      (await row.all()).map(async (cell) => [await cell.getAttribute('class'), await cell.textContent()]),
    );
    return found.map(([style, text]) => (style?.includes('unrecorded') ? '/' : text || '-')).join('');
  }

  test('shows when each cluster had how many problems, and when nothing was recorded', async () => {
    const page = await open('/recording/problems?period=6h');
    await page.locator('.heat a').first().waitFor();
    // Cells of ten minutes from 09:00 to 15:00.
    expect(await cells(page, 'prod-us-2')).toBe('----------///--55-------------------');
    expect(await cells(page, 'prod-ap-1')).toBe('------1---///----------------------1');
    expect(await cells(page, 'prod-eu-1')).toBe('----------///-------------------1212');
  });

  test('leads from a cell to its problems, and back', async () => {
    const page = await open('/recording/problems?period=6h');
    await page.getByRole('link', { name: /^prod-us-2, 15 Jan 11:30:00 to 11:40:00: 5 critical$/ }).click();
    const first = page.locator('tbody tr').first();
    await wait(() => first.textContent()).toMatch(/^criticalprod-us-2 · [a-z/]+NoReadyEndpoints/);
    expect(await page.locator('tbody tr').count()).toBe(5);
    expect(queryOf(page)).toEqual({
      ...{ cluster: 'prod-us-2', period: '6h' },
      ...{ since: String(Date.parse('2026-01-15T11:30Z')), until: String(Date.parse('2026-01-15T11:40Z')) },
    });
    await page.reload();
    await wait(() => page.locator('tbody tr').count()).toBe(5);
    expect(await page.locator('.heat [aria-current]').getAttribute('title')).toMatch(/^prod-us-2, 15 Jan 11:30:00/);
    for (const filter of [/^prod-us-2 ×$/, /^15 Jan 11:30:00 – 11:40:00 ×$/])
      await page.getByRole('link', { name: filter }).click();
    await wait(() => page.locator('tbody').textContent()).toContain('Flapping');
  });

  test('reaches back to the time of a link', async () => {
    const [since, until] = [Date.parse('2026-01-15T11:30Z'), Date.parse('2026-01-15T11:40Z')];
    const page = await open(`/recording/problems?period=1h&cluster=prod-us-2&since=${since}&until=${until}`);
    await wait(() => page.locator('tbody tr').count()).toBe(5);
    expect(await page.locator('.heat [aria-current]').first().textContent()).toBe('5');
  });

  test('moves the focus with the arrow keys', async () => {
    const page = await open('/recording/problems?period=6h');
    const focused = () => page.evaluate('document.activeElement.title');
    await page.locator('.heat a[title^="prod-us-1, 15 Jan 12:10"]').focus();
    await page.keyboard.press('ArrowRight');
    expect(await focused()).toMatch(/^prod-us-1, 15 Jan 12:20/);
    await page.keyboard.press('ArrowUp');
    expect(await focused()).toMatch(/^prod-us-2, 15 Jan 11:40/);
    await page.keyboard.press('Enter');
    await wait(() => page.locator('tbody tr').count()).toBe(5);
  });

  test('renders only the visible rows of hundreds of clusters', async () => {
    const page = await open('/');
    const until = incident.to;
    const clusters = Array.from({ length: 500 }, (_, i) => ({
      ...{ cluster: `uid-${i}`, clusterName: `cluster-${i}` },
      cells: [{ at: until - 600_000, critical: 500 - i, warning: 0, info: 0 }],
    }));
    await page.route('**/api/v1/problem-counts?*', (route) =>
      route.fulfill({ json: { since: incident.from, until, stepMs: 600_000, clusters } }),
    );
    await page.goto(`${served.url}/recording/problems?period=6h`);
    const rows = page.locator('.heat .row');
    await wait(() => rows.first().textContent()).toBe('cluster-0+');
    expect(await rows.count()).toBeLessThan(60);
    await page.locator('.heat .rows').evaluate((box) => box.scrollTo(0, 1e9));
    await wait(() => rows.last().textContent()).toBe('cluster-4991');
  });

  test('has as many cells as fit', async () => {
    const page = await open('/recording/problems?period=6h', { viewport: { width: 390, height: 800 } });
    await page.locator('.heat a').first().waitFor();
    expect(await page.locator('.heat .row').first().locator('.cells > *').count()).toBe(12);
  });
});

test('a redacted recording says that it is', async () => {
  const page = await open('/');
  const status = page.locator('.lost.recorded');
  await wait(() => status.textContent()).not.toContain('pseudonyms');
  await page.route('**/api/v1/overview', async (route) => {
    const overview = await (await route.fetch()).json();
    await route.fulfill({ json: { ...overview, recording: { ...overview.recording, isRedacted: true } } });
  });
  await page.reload();
  await wait(() => status.textContent()).toContain('Names, addresses, labels and messages are pseudonyms.');
});

test('a belt of outages shows when nothing was recorded', async () => {
  const page = await open('/recording/outages?period=6h');
  const gap = page.locator('.belts li', { hasText: 'prod-us-2 · pay/ledger' }).locator('.belt .unrecorded');
  await wait(() => gap.getAttribute('title')).toBe('not recorded from 15 Jan 10:40:00 to 15 Jan 11:10:00');
});

test('a table is sorted by its columns', async () => {
  const page = await open('/recording/flapping?period=6h');
  const pods = () => page.locator('tbody tr td:nth-child(2)').allTextContents();
  await wait(pods).not.toEqual([]);
  const answered = await pods();
  const sorted = answered.toSorted((a, b) => a.localeCompare(b, 'en', { numeric: true }));
  const heading = page.getByRole('columnheader', { name: 'Pod' });
  await heading.getByRole('button').click();
  await wait(pods).toEqual(sorted);
  expect(await heading.getAttribute('aria-sort')).toBe('ascending');
  await heading.getByRole('button').press('Enter');
  await wait(pods).toEqual(sorted.toReversed());
  await heading.getByRole('button').click();
  await wait(pods).toEqual(answered);
});

describe('the history of a Service', () => {
  const service = () => new URL(picture('console-timeline').path, served.url).pathname;
  const footer = (page: Page) => page.locator('.history footer').textContent();
  const range = incident.rollout;

  test('is limited to a range by dragging, and the address opens the same range', async () => {
    const page = await open(service());
    await wait(() => footer(page)).toMatch(/^33 entries since 15 Jan 09:00:00/);
    const { x, y, width: w } = (await page.locator('.bars').boundingBox()) ?? expect.unreachable();
    // From 14:00 to 14:30 of 09:00 to 15:00.
    await page.mouse.move(x + (w * 5) / 6, y + 5);
    await page.mouse.down();
    await page.mouse.move(x + (w * 5.5) / 6, y + 8, { steps: 4 });
    await page.mouse.up();
    await wait(() => footer(page)).toMatch(/^24 entries from 15 Jan 1[34]:[50]\d:\d\d to 15 Jan 14:[23]\d:\d\d$/);
    const { since = '', until = '', at } = queryOf(page);
    expect(Number(since)).toBeLessThan(range.at);
    expect(at, 'the state is that at the end of the range').toBe(until);
    await page.goto(page.url());
    await wait(() => footer(page)).toMatch(/^24 entries/);
    await page.keyboard.press('0');
    await wait(() => footer(page)).toMatch(/^33 entries/);
  });

  test('is scrolled to the entry of the time shown', async () => {
    const page = await open(picture('console-timeline').path);
    const current = page.locator('.timeline .current');
    await wait(() => current.textContent()).toMatch(/^14:23:19\.007/);
    await page.locator('.pod-belts').waitFor();
    const isInView = async () => {
      const [list, entry] = await Promise.all([page.locator('.timeline').boundingBox(), current.boundingBox()]);
      return list !== null && entry !== null && entry.y >= list.y && entry.y + entry.height <= list.y + list.height;
    };
    await wait(isInView).toBe(true);
  });

  test('is limited to the last minutes and zoomed by buttons and keys', async () => {
    const page = await open(service());
    const lengthMs = () => Number(queryOf(page).until) - Number(queryOf(page).since);
    await page.getByRole('button', { name: '1 h' }).click();
    await wait(() => footer(page)).toMatch(/ from 15 Jan 14:00:00 to 15 Jan 15:00:00$/);
    expect(queryOf(page).at, 'the end of the recording is shown').toBeUndefined();
    await page.keyboard.press('+');
    await wait(lengthMs).toBe(1_800_000);
    await page.getByRole('button', { name: 'zoom out' }).click();
    await wait(lengthMs).toBe(3_600_000);
    await page.getByRole('button', { name: '24 h' }).click();
    await wait(() => queryOf(page)).toEqual({});
    await page.goto(`${served.url}${service()}?at=${range.at}`);
    await page.getByRole('button', { name: '5 min' }).click();
    await wait(() => queryOf(page)).toEqual({
      ...{ at: String(range.at), since: String(range.at - 150_000), until: String(range.at + 150_000) },
    });
  });

  test('has the Pod in the address', async () => {
    const page = await open(service());
    await page.locator('.pods li', { hasText: 'qp9td' }).getByRole('button').click();
    await wait(() => queryOf(page)).toEqual({ pod: 'checkout-5f8c66-qp9td' });
    await page.reload();
    await page.getByRole('button', { name: 'checkout-5f8c66-qp9td ×' }).waitFor();
    expect(await page.locator('.timeline').textContent()).not.toContain('rxlrw');
    await page.keyboard.press('Escape');
    await wait(() => queryOf(page)).toEqual({});
    await wait(() => page.locator('.timeline').textContent()).toContain('rxlrw');
  });

  test('is copied as a link to what is shown', async () => {
    const page = await open(`${service()}?pod=checkout-5f8c66-qp9td`, {
      permissions: ['clipboard-read', 'clipboard-write'],
    });
    await page.getByRole('button', { name: 'copy link' }).click();
    await page.getByText('copied').waitFor();
    const copied = await page.evaluate<string>('navigator.clipboard.readText()');
    expect(copied).toBe(`${served.url}${service()}?at=${incident.to}&pod=checkout-5f8c66-qp9td`);
  });
});
