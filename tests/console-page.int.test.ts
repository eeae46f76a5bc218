import type { Browser, BrowserContextOptions, Locator, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { accessibilityOf } from './harness/page/accessibility.ts';
import { startChromium } from './harness/page/chromium.ts';
import { type ServedConsole, serveConsole } from './harness/page/served-console.ts';
import { serveHistory } from './harness/page/served-history.ts';
import { Shop } from './harness/page/shop.ts';
import { openPage, type WatchedPage } from './harness/page/watched-page.ts';

/** The page in a real browser. All services run in this process against a fake API server. */
const markup = `<img src=x onerror="document.title='broken in'">`;

let browser: Browser;
let served: ServedConsole;
let shop: Shop;
let watched: WatchedPage | undefined;

beforeAll(async () => {
  [browser, served] = await Promise.all([startChromium(), serveConsole()]);
  shop = new Shop(served.server);
  shop.addService('web', 3);
  shop.addService('db', 1);
  shop.addService('idle', 0);
  shop.addCustom('legacy', '192.0.2.1', '192.0.2.2');
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
});

/** Opens a path of the console. Browser errors until the end of the test fail it. */
async function open(path = '/', url = served.url, options: BrowserContextOptions = {}): Promise<Page> {
  watched = await openPage(browser, url + path, options);
  return watched.page;
}

const pathOf = (service: string): string => `/services/${served.server.identity}/shop/${service}`;
const rowOf = (page: Page, service: string) => page.locator('.row.entry', { hasText: `shop/${service}` });
const names = (page: Page) => page.locator('.row.entry .name a').allInnerTexts();
/** Separates the texts of adjacent elements. */
const textOf = async (element: Locator) => (await element.allInnerTexts()).join('\n');
const cells = (page: Page, state: string) => page.locator(`.slices article .cell.${state}`).count();
const wait = (actual: () => unknown) => expect.poll(actual);

describe('the list of Services', () => {
  test('shows Services and updates without reloading the page', async () => {
    const page = await open();
    await wait(() => names(page)).toEqual(expect.arrayContaining(['shop/db', 'shop/idle', 'shop/legacy', 'shop/web']));
    await wait(() => textOf(rowOf(page, 'web'))).toMatch(/^ok\b[\s\S]*3\/3/);
    expect(await page.title()).toBe('Services · Sluice');
    shop.setPod('web', 'web-1', false);
    await wait(() => textOf(rowOf(page, 'web'))).toMatch(/^degraded\b[\s\S]*2\/3/);
    await wait(() => textOf(page.locator('.feed li').first())).toMatch(
      /shop\/web[\s\S]*~1[\s\S]*web-1 became not ready/,
    );
    shop.setPod('web', 'web-1', true);
    await wait(() => textOf(rowOf(page, 'web'))).toMatch(/^ok\b/);
    shop.addService('new', 1);
    await wait(() => names(page)).toContain('shop/new');
    expect(watched?.loads()).toBe(1);
  });

  test('lists a write once that is both loaded and in the first update', async () => {
    const pods = Array.from({ length: 40 }, (_, i) => `once-${i + 1}`);
    shop.addService('once', pods.length);
    const left = [...pods];
    const timer = setInterval(() => {
      const pod = left.shift();
      if (pod !== undefined) shop.setPod('once', pod, false);
    }, 100);
    try {
      const page = await open();
      await wait(() => textOf(rowOf(page, 'once'))).toMatch(/0\/40/);
      const causes = (await textOf(page.locator('.feed'))).match(/once-\d+ became not ready/g) ?? [];
      expect(causes).not.toEqual([]);
      expect(causes).toEqual([...new Set(causes)]);
    } finally {
      clearInterval(timer);
      // If the page was slow, no Pod is ready, and the next test would find another empty Service.
      shop.setPod('once', 'once-1', true);
    }
  });

  test('opens a Service by its name alone if one cluster has it', async () => {
    const page = await open('/services/shop/db');
    await wait(() => page.title()).toBe('shop/db · Sluice');
    expect(new URL(page.url()).pathname).toMatch(/^\/services\/[^/]+\/shop\/db$/);
  });

  test('pauses and hides the last writes, also after a reload', async () => {
    const page = await open();
    const feed = page.getByRole('complementary', { name: 'last writes' });
    const writes = () => textOf(feed.getByRole('list'));
    await feed.getByRole('button', { name: 'pause' }).click();
    await page.mouse.move(0, 0);
    shop.addService('paused', 1);
    await rowOf(page, 'paused').waitFor();
    await wait(() => textOf(rowOf(page, 'paused'))).toMatch(/^ok\b/);
    expect(await writes()).not.toContain('shop/paused');
    await page.reload();
    await wait(writes).toContain('shop/paused');
    shop.setPod('paused', 'paused-1', false);
    await wait(() => textOf(rowOf(page, 'paused'))).toMatch(/^empty\b/);
    expect(await writes()).not.toContain('paused-1 became not ready');
    await feed.getByRole('button', { name: 'pause' }).click();
    await page.mouse.move(0, 0);
    await wait(writes).toContain('paused-1 became not ready');
    shop.setPod('paused', 'paused-1', true);

    await feed.getByRole('button', { name: 'hide last writes' }).click();
    await page.reload();
    await feed.getByRole('button', { name: 'show last writes' }).click();
    await wait(writes).toContain('shop/paused');
  });

  test('filters by name and by status', async () => {
    const page = await open();
    await page.getByRole('searchbox').fill('shop/d');
    await wait(() => names(page)).toEqual(['shop/db']);
    await page.getByRole('searchbox').fill('no such name');
    await page.getByText('No Service matches').waitFor();
    await page.getByRole('searchbox').fill('');
    await page.getByRole('button', { name: 'empty' }).click();
    await wait(() => names(page)).toEqual(['shop/idle']);
    expect(new URL(page.url()).search).toBe('?status=empty');
    await page.reload();
    await wait(() => names(page)).toEqual(['shop/idle']);
    await page.locator('.row.entry', { hasText: 'idle' }).click();
    await wait(() => page.title()).toBe('shop/idle · Sluice');
    await page.keyboard.press('Escape');
    await wait(() => names(page)).toEqual(['shop/idle']);
  });

  test('shows problems first, each with its reason, and sorts by a column', async () => {
    const page = await open();
    await wait(() => textOf(page.locator('.row.entry').first())).toMatch(/^empty\b[\s\S]*No Pod matches/);
    const heading = page.getByRole('columnheader', { name: 'Service' });
    await heading.getByRole('button').click();
    await wait(async () => (await names(page)).find((name) => name !== 'default/kubernetes')).toBe('shop/db');
    expect(await heading.getAttribute('aria-sort')).toBe('ascending');
    expect(new URL(page.url()).search).toBe('?sort=name');
  });

  test('groups Services by namespace, with totals', async () => {
    const page = await open('/?q=shop/');
    await rowOf(page, 'legacy').waitFor();
    await wait(() => textOf(page.locator('.services footer'))).toMatch(
      /^\d+ Services: \d+ ok,.* 1 empty · \d+\/\d+ endpoints ready$/,
    );
    const totals = (await textOf(page.locator('.services footer'))).replace(/:.* ·/, ' ·');
    await page.getByRole('button', { name: 'by namespace' }).click();
    await wait(() => textOf(page.locator('.row.group'))).toBe(`shop ${totals}`);
    await page.keyboard.press('j');
    await wait(() => textOf(page.locator('.row.selected .name a'))).toBe('shop/idle');
    expect(new URL(page.url()).search).toBe('?q=shop%2F&group=namespace');
    await page.locator('.row.selected .name a').click();
    await wait(() => page.title()).toBe('shop/idle · Sluice');
    await page.keyboard.press('Escape');
    await page.locator('.row.group').waitFor();
    await page.keyboard.press('Escape');
    await page.locator('.row.group').waitFor({ state: 'detached' });
  });

  test('works with the keyboard alone', async () => {
    const page = await open('/?sort=name');
    await rowOf(page, 'db').waitFor();
    await page.keyboard.press('/');
    await page.keyboard.type('shop/');
    await wait(() => names(page)).not.toContain('default/kubernetes');
    await page.keyboard.press('Enter');
    await wait(() => textOf(page.locator('.row.selected .name a'))).toBe('shop/db');
    await page.keyboard.press('j');
    await wait(() => textOf(page.locator('.row.selected .name a'))).toBe('shop/idle');
    await page.keyboard.press('k');
    await wait(() => textOf(page.locator('.row.selected .name a'))).toBe('shop/db');
    await page.keyboard.press('Enter');
    await wait(() => page.title()).toBe('shop/db · Sluice');
    await page.keyboard.press('?');
    await page.getByRole('dialog').waitFor();
    await page.keyboard.press('Escape');
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    expect(await page.title(), 'the first Esc closes only the help').toBe('shop/db · Sluice');
    await page.keyboard.press('Escape');
    await wait(() => page.title()).toBe('Services · Sluice');
    const theme = () => page.locator('html').getAttribute('data-theme');
    const before = await theme();
    await page.keyboard.press('t');
    await wait(theme).not.toBe(before);
    await page.keyboard.press('g');
    await wait(() => page.title()).toBe('Fleet · Sluice');
    await page.getByText('Kubernetes v1.36.3').waitFor();
  });
});

describe('one Service', () => {
  test('shows the cell, reason and write of a Pod that became not ready', async () => {
    shop.addService('cells', 3);
    const page = await open(pathOf('cells'));
    await wait(() => cells(page, 'ready')).toBe(3);
    shop.setPod('cells', 'cells-2', false);
    await wait(() => cells(page, 'not-ready')).toBe(1);
    expect(await cells(page, 'ready')).toBe(2);
    const pod = page.locator('.pods li', { hasText: 'cells-2' });
    await wait(() => textOf(pod)).toMatch(/not ready[\s\S]*its condition Ready is False since Jan 1 \d/);
    const write = page.locator('.timeline li.completed', { hasText: 'cells-2 ready → not ready' }).first();
    await wait(() => textOf(write)).toMatch(
      /cells-2 ready → not ready[\s\S]*Pod shop\/cells-2 became not ready[\s\S]*\d (ms|s)/,
    );
    await wait(() => write.getAttribute('class')).toContain('completed');
    expect(await textOf(write), 'the write of Endpoints is of the same change').toMatch(
      /Slices updated[\s\S]*because Pod shop\/cells-2 became not ready[\s\S]*Endpoints updated(?![\s\S]*because)/,
    );
    expect(await textOf(page.locator('.timeline .change.problem'))).toContain('cells-2 ready → not ready');
    await page.locator('.slices .cell.not-ready').first().click();
    await wait(() => page.locator('.timeline li').allInnerTexts()).not.toContainEqual(expect.stringMatching('cells-1'));
    await page.keyboard.press('Escape');
    await wait(() => textOf(page.locator('.timeline'))).toContain('cells-1');
  });

  test('travels in time by keys, slider and URL, and back to now', async () => {
    shop.addService('past', 2);
    const page = await open(pathOf('past'));
    await wait(() => cells(page, 'ready')).toBe(2);
    shop.setPod('past', 'past-1', false);
    await wait(() => cells(page, 'not-ready')).toBe(1);
    await wait(() => textOf(page.locator('.timeline'))).toContain('past-1 ready → not ready');
    const isPast = () => page.locator('.service.past').count();
    let steps = 0;
    while ((await cells(page, 'ready')) < 2 && steps++ < 20) {
      const address = page.url();
      await page.keyboard.press('ArrowLeft');
      await wait(() => page.url()).not.toBe(address);
      await wait(() => page.locator(`.service[data-at="${atOf(page)}"]`).count()).toBe(1);
    }
    expect(await cells(page, 'ready')).toBe(2);
    expect(await isPast()).toBe(1);
    const address = page.url();
    await page.keyboard.press('l');
    await wait(() => cells(page, 'not-ready')).toBe(1);
    await wait(isPast).toBe(0);

    await page.goto(address);
    await wait(() => cells(page, 'ready')).toBe(2);
    await page.keyboard.press('ArrowRight');
    await wait(() => page.url()).not.toBe(address);
    await page.getByRole('button', { name: 'now' }).click();
    await wait(isPast).toBe(0);

    const slider = page.getByRole('slider');
    await slider.fill(String(atOf({ url: () => address })));
    await wait(isPast).toBe(1);
    await wait(() => cells(page, 'ready')).toBe(2);
    await page.keyboard.press('l');
    await wait(() => cells(page, 'not-ready')).toBe(1);
  });

  test('follows a Service by the name and by the UID of its cluster', async () => {
    shop.addService('named', 2);
    for (const [cluster, ready] of [
      ['prod', false],
      [served.server.identity, true],
    ] as const) {
      const page = await open(`/services/${cluster}/shop/named`);
      await wait(() => cells(page, ready ? 'not-ready' : 'ready')).toBe(ready ? 1 : 2);
      shop.setPod('named', 'named-1', ready);
      await wait(() => cells(page, ready ? 'ready' : 'not-ready')).toBe(ready ? 2 : 1);
      await page.keyboard.press('ArrowLeft');
      await wait(() => new URL(page.url()).pathname).toBe('/services/prod/shop/named');
      expect(watched?.loads()).toBe(1);
      await page.context().close();
    }
  });

  test('copies the commands that print what it shows', async () => {
    const page = await open(pathOf('web'), served.url, { permissions: ['clipboard-read', 'clipboard-write'] });
    await wait(() => cells(page, 'ready')).toBe(3);
    const copied = () => page.evaluate('navigator.clipboard.readText()');
    await page.getByRole('button', { name: 'copy explain' }).click();
    await wait(copied).toMatch(/^sluice explain shop\/web --cluster prod --at 20\S+Z$/);
    await page.getByRole('button', { name: 'copy history' }).click();
    await wait(copied).toBe('sluice history shop/web --cluster prod');
  });

  test('shows an error for a time before the history and for an unknown Service, and recovers', async () => {
    const page = await open(`${pathOf('web')}?at=1000`);
    await page.getByText('the history starts at').waitFor();
    await page.getByRole('button', { name: 'show now' }).click();
    await wait(() => cells(page, 'ready')).toBe(3);
    await page.goto(served.url + pathOf('nobody'));
    await page.getByText('no history for Service shop/nobody').waitFor();
    shop.addService('nobody', 1);
    await wait(() => cells(page, 'ready')).toBe(1);
  });

  test('shows cells and no Pods for custom Endpoints', async () => {
    const page = await open(pathOf('legacy'));
    await wait(() => cells(page, 'ready')).toBe(2);
    await page.getByText('The Service has no selector').waitFor();
    expect(await page.locator('.pods').count()).toBe(0);
  });

  test('makes each of 1,000 cells clickable', async () => {
    shop.addService('many', 1_000);
    const page = await open(pathOf('many'));
    await wait(() => cells(page, 'ready')).toBe(1_000);
    const last = page.locator('.slices .cell.ready[title^="many-1000:"]');
    await last.click();
    await wait(() => textOf(page.locator('.pods li.chosen'))).toContain('many-1000');
  });
});

describe.each(['dark', 'light'] as const)('accessibility in the %s theme', (theme) => {
  const places: readonly (readonly [string, () => string, string])[] = [
    ['list of Services', () => '/', '.row.entry'],
    ['list of Services by namespace', () => '/?group=namespace', '.row.group'],
    ['Service', () => pathOf('web'), '.timeline li.completed'],
    ['Service in the past', () => `${pathOf('web')}?at=${Date.now() - 1}`, '.service.past .pods li'],
    ['fleet', () => '/fleet', '.cards li'],
    ['unknown Service', () => pathOf('no-such-name'), '.notice.failed'],
  ];
  test.each(places)('%s', async (_, path, shows) => {
    expect(await accessibilityOf(browser, served.url + path(), shows, theme)).toEqual([]);
  });
  test('help', async () => {
    expect(await accessibilityOf(browser, served.url, '.row.entry', theme, true)).toEqual([]);
  });
});

test.each([1400, 390])('explains status, signs and latencies at a width of %i', async (width) => {
  const page = await open('/', served.url, { viewport: { width, height: 800 } });
  await page.getByRole('button', { name: 'keys and signs' }).click();
  const help = page.getByRole('dialog');
  for (const text of [
    /unmanaged\s+Sluice writes no/,
    /empty\s+no endpoint/,
    /~1\s+endpoints that/,
    /400 ms\s+below 1 s/,
  ])
    expect(await textOf(help)).toMatch(text);
  const box = (await help.boundingBox()) ?? expect.fail('the help is not visible');
  expect(box.x).toBeGreaterThanOrEqual(0);
  expect(box.x + box.width).toBeLessThanOrEqual(width);
  await help.getByRole('button', { name: 'close' }).click();
  await help.waitFor({ state: 'detached' });
});

test('escapes messages from a cluster, and shows no object with a name that Kubernetes does not accept', async () => {
  served.refuse('evil', `refused because of ${markup}`);
  shop.addService('evil', 1);
  shop.setPod('evil', markup, true);
  const page = await open(pathOf('evil'));
  await page.getByText(`refused because of ${markup}`).first().waitFor();
  await page.locator('.pods li', { hasText: 'evil-1' }).waitFor();
  expect(await page.locator('.pods li').count()).toBe(1);
  await page.goto(`${served.url}/fleet`);
  await page.getByText(`refused because of ${markup}`).first().waitFor();
  await page.goto(served.url + pathOf('evil'));
  await page.locator('.timeline', { hasText: `refused because of ${markup}` }).waitFor();
  expect(await page.locator('main img').count()).toBe(0);
  expect(await page.title()).toBe('shop/evil · Sluice');
});

test('reports a lost server, and recovers by itself', async () => {
  shop.addService('away', 2);
  const page = await open(pathOf('away'));
  await wait(() => cells(page, 'ready')).toBe(2);
  await page.getByText('live', { exact: true }).waitFor();
  await served.stopListening();
  await page.getByRole('alert').getByText('Sluice does not answer').first().waitFor();
  expect(await cells(page, 'ready'), 'known data stays visible').toBe(2);
  shop.setPod('away', 'away-1', false);
  await served.listenAgain();
  await page.getByText('live', { exact: true }).waitFor();
  await wait(() => cells(page, 'not-ready')).toBe(1);
  await wait(() => page.getByRole('alert').count()).toBe(0);
  expect(watched?.loads()).toBe(1);
});

test.each([
  ['a desktop', { width: 1440, height: 900 }],
  ['a phone', { width: 390, height: 844 }],
])('on %s, each view says since when and why a cluster does not answer', async (_, viewport) => {
  const since = Date.now() - 60_000;
  served.setOutage({ since, reason: 'connection refused' });
  try {
    const page = await open('/', served.url, { viewport });
    const banner = page.getByRole('alert').filter({ hasText: 'prod has not answered since' });
    for (const path of ['/', pathOf('web'), '/fleet']) {
      await page.goto(served.url + path);
      await banner.waitFor();
      expect((await banner.textContent())?.trim()).toMatch(
        /^prod has not answered since .*\d\d:\d\d:\d\d \(connection refused\)\.\s+Its state is shown as of that time\.$/,
      );
      const box = (await banner.boundingBox()) ?? expect.fail('the banner is not visible');
      expect(box.x).toBeGreaterThanOrEqual(0);
      expect(box.x + box.width).toBeLessThanOrEqual(viewport.width);
      expect(await page.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(viewport.width);
      if (path === pathOf('web')) {
        await page.locator('.bars .outage[title^="prod has not answered since"]').waitFor();
        await page.getByRole('list', { name: 'bands' }).getByText('does not answer').waitFor();
      }
    }
    await page.locator('.cards li.bad').getByText('It has not answered since').waitFor();
    const status = page.getByRole('status');
    const color = () => page.evaluate("getComputedStyle(document.querySelector('.live'), '::before').backgroundColor");
    expect(await status.textContent()).toBe('live, 1 cluster lost');
    const colorOfOutage = await color();
    served.setOutage(null);
    await banner.waitFor({ state: 'detached' });
    await wait(() => status.textContent()).toBe('live');
    expect(await color()).not.toBe(colorOfOutage);
  } finally {
    served.setOutage(null);
  }
});

test('says in one line that many clusters do not answer, and leads to them', async () => {
  const view = { version: '', server: '', state: 'watched' };
  const outage = { since: Date.now() - 60_000, reason: 'connection refused' };
  const lost = Array.from({ length: 60 }, (_, i) => ({ ...view, identity: `u${i}`, name: `lost-${i}`, outage }));
  const many = await serveHistory(1, [{ ...view, identity: 'cluster-uid', name: 'prod' }, ...lost]);
  try {
    const page = await open('/', many.url);
    await page.getByRole('alert').getByText('60 of 61 clusters do not answer').click();
    await wait(() => page.title()).toBe('Fleet · Sluice');
    expect(await page.getByRole('alert').count()).toBe(1);
    await page.locator('.cards li.bad', { hasText: 'lost-59' }).waitFor();
  } finally {
    await many.stop();
  }
});

test('renders only the visible rows of 10,000 Services', async () => {
  const services = 10_000;
  const large = await serveHistory(services);
  try {
    const page = await open('/', large.url);
    await page.locator('.row.entry').first().waitFor();
    await page.getByText('10000 Services').waitFor();
    await page.locator('.rows').evaluate((rows) => rows.scrollTo(0, rows.scrollHeight));
    await page.getByText('svc-09999').waitFor();
    expect(await page.locator('.row').count()).toBeLessThan(100);
    large.flip('svc-09999');
    await rowOf(page, 'svc-09999').getByText('degraded').waitFor();
    await page.locator('.feed li', { hasText: 'svc-09999' }).waitFor();
    await page.getByRole('button', { name: 'by namespace' }).click();
    await page.locator('.rows').evaluate((rows) => rows.scrollTo(0, 0));
    await page.locator('.row.group').waitFor();
    await page.locator('.rows').evaluate((rows) => rows.scrollTo(0, rows.scrollHeight));
    await page.getByText('svc-09998').waitFor();
    expect(await page.locator('.row').count()).toBeLessThan(100);
    await page.getByRole('button', { name: 'by namespace' }).click();
    await page.getByRole('searchbox').fill('svc-05');
    await page.getByText('1000 Services').waitFor();
    await page.getByRole('button', { name: 'degraded' }).waitFor({ state: 'detached' });
    expect(new URL(page.url()).search).toBe('?q=svc-05');
  } finally {
    await large.stop();
  }
});

test('shows Services over three clusters, of which one is lost', async () => {
  const view = { version: '', server: '', state: 'watched' };
  const outage = { since: Date.now() - 240_000, reason: 'timeout' };
  const three = await serveHistory(3, [
    { ...view, identity: 'east-uid', name: 'east' },
    { ...view, identity: 'north-uid', name: 'north' },
    { ...view, identity: 'west-uid', name: 'west', state: 'not answering', outage },
  ]);
  try {
    const page = await open('/', three.url);
    await page.getByRole('link', { name: 'Clusters' }).click();
    const row = rowOf(page, 'svc-00001');
    const states = () => row.locator('.cells [data-state]').evaluateAll((all) => all.map((one) => one.dataset.state));
    await wait(states).toEqual(['served', 'served', 'lost']);
    expect(await row.locator('.cells').allInnerTexts()).toEqual(['5/5\n5/5\n5/5']);
    await wait(() => textOf(page.locator('.lost-clusters li'))).toMatch(
      /^west: not answering, known up to \d+\w+ ago; its endpoints count for another \d+\w+$/,
    );
    await wait(() => textOf(row)).toMatch(/last known endpoints of west count[\s\S]*15\/15/);

    three.flip('svc-00001', 'north-uid');
    await wait(states).toEqual(['served', 'partly', 'lost']);
    await page.getByRole('searchbox', { name: 'search' }).fill('svc-00001');
    await page.getByRole('combobox', { name: 'as if a cluster were lost' }).selectOption('as if north were lost');
    await wait(states).toEqual(['served', 'lost', 'lost']);
    await wait(() => textOf(row)).toMatch(/10\/10/);
    expect(new URL(page.url()).search).toBe('?q=svc-00001&without=north');

    await page.reload();
    await wait(() => textOf(page.locator('.matrix .entry'))).toMatch(/svc-00001[\s\S]*10\/10/);
    await page.keyboard.press('j');
    await page.keyboard.press('Enter');
    await wait(() => page.title()).toBe('shop/svc-00001 in all clusters · Sluice');
    const inCluster = (name: string) => textOf(page.locator('tbody tr', { hasText: name }));
    await wait(() => inCluster('north')).toMatch(/lost[\s\S]*counts as lost/);
    expect(new URL(page.url()).search).toBe('?without=north');
    await page.getByRole('combobox').selectOption('as it is now');
    await wait(() => inCluster('north')).toMatch(/partly ready[\s\S]*zone-a 4\/5[\s\S]*29 % of the ready endpoints/);
    expect(await inCluster('west')).toMatch(
      /lost[\s\S]*\d+\w+ ago, not answering, counts[\s\S]*each other gets 1.6 × its load/,
    );
    await page.getByRole('link', { name: 'north', exact: true }).click();
    await wait(() => page.title()).toBe('shop/svc-00001 · Sluice');
    expect(new URL(page.url()).pathname).toBe('/services/north/shop/svc-00001');
    await page.getByRole('link', { name: 'all clusters' }).click();
    await wait(() => inCluster('north')).toMatch(/partly ready/);
    await page.keyboard.press('Escape');
    await wait(() => new URL(page.url()).search).toBe('?q=svc-00001&without=north');
  } finally {
    await three.stop();
  }
});

test('moves between the cells of Services and clusters by keys', async () => {
  const clusters = Array.from({ length: 30 }, (_, i) => `c${String(i).padStart(2, '0')}`);
  const many = await serveHistory(
    2,
    clusters.map((name) => ({ identity: name, name, version: '', server: '', state: 'watched' })),
  );
  try {
    const page = await open('/logical-services', many.url);
    await rowOf(page, 'svc-00001').waitFor();
    const focused = () => page.locator(':focus').getAttribute('aria-label');
    for (const key of ['j', 'ArrowRight', 'ArrowRight', 'ArrowRight', 'ArrowDown']) await page.keyboard.press(key);
    await wait(focused).toBe('shop/svc-00001 in c01: 5/5 endpoints ready');
    await page.keyboard.press('Enter');
    await wait(() => new URL(page.url()).pathname).toBe('/services/c01/shop/svc-00001');
  } finally {
    await many.stop();
  }
});

test('counts clusters by state where there is no room for each', async () => {
  const clusters = Array.from({ length: 101 }, (_, i) => ({ identity: `c${i}`, name: `c${i}`, state: 'watched' }));
  const many = await serveHistory(
    1,
    clusters.map((one) => ({ ...one, version: '', server: '' })),
  );
  try {
    many.flip('svc-00000', 'c7');
    for (const width of [1400, 800, 390]) {
      const page = await open('/logical-services', many.url, { viewport: { width, height: 800 } });
      await wait(() => textOf(page.locator('.entry .state-counts'))).toBe('1 partly ready · 100 served');
      expect(await page.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(width);
      await watched?.page.context().close();
    }
  } finally {
    await many.stop();
  }
});

describe.each(['dark', 'light'] as const)('accessibility of Services over all clusters in the %s theme', (theme) => {
  test.each([
    ['/logical-services', '.matrix .entry'],
    ['/logical-services/shop/svc-00000', 'tbody tr'],
  ])('%s', async (path, shows) => {
    const view = { version: '', server: '' };
    const outage = { since: Date.now() - 1_000, reason: 'timeout' };
    const two = await serveHistory(1, [
      { ...view, identity: 'east-uid', name: 'east', state: 'watched' },
      { ...view, identity: 'west-uid', name: 'west', state: 'not answering', outage },
    ]);
    two.flip('svc-00000');
    try {
      expect(await accessibilityOf(browser, two.url + path, shows, theme)).toEqual([]);
    } finally {
      await two.stop();
    }
  });
});

const atOf = (page: { url(): string }): number => Number(new URL(page.url()).searchParams.get('at'));
