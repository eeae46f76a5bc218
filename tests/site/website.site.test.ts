import { existsSync, globSync, readFileSync, statSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { dirname, extname, join, normalize } from 'node:path';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { siteFolder, startPage } from '../../infra/site/paths.ts';
import { accessibilityOf } from '../harness/page/accessibility.ts';
import { startChromium } from '../harness/page/chromium.ts';
import { openPage } from '../harness/page/watched-page.ts';

/** The website that `npm run docs:build` has built, in Chromium. */
let server: Server;
let browser: Browser;
let origin: string;

const types: Readonly<Record<string, string>> = {
  ...{ '.html': 'text/html', '.js': 'text/javascript', '.css': 'text/css', '.json': 'application/json' },
  ...{ '.svg': 'image/svg+xml', '.png': 'image/png', '.woff2': 'font/woff2' },
};

beforeAll(async () => {
  if (!existsSync(join(siteFolder, 'index.html')))
    throw new Error('the website is not built: run "npm run docs:build"');
  server = createServer(({ url = '/' }, response) => {
    const path = decodeURIComponent(new URL(url, 'http://site').pathname);
    const file = join(siteFolder, normalize(path), path.endsWith('/') ? 'index.html' : '');
    if (!existsSync(file) || !statSync(file).isFile()) return response.writeHead(404).end();
    return response.writeHead(200, { 'content-type': types[extname(file)] ?? 'text/plain' }).end(readFileSync(file));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  browser = await startChromium();
});

afterAll(async () => {
  await browser?.close();
  server?.close();
});

const pages = () => globSync('**/*.html', { cwd: siteFolder }).filter((path) => path !== '404.html');

/** Internal links and images of a page, by the path of their file, with the anchor. */
function linksOf(path: string): readonly { readonly file: string; readonly anchor: string }[] {
  const html = readFileSync(join(siteFolder, path), 'utf8');
  return [...html.matchAll(/(?:href|src)="([^"]+)"/g)]
    .map(([, target = '']) => target.replaceAll('&amp;', '&'))
    .filter((target) => !/^[a-z]+:|^\/\//i.test(target))
    .map((target) => {
      const [to = '', anchor = ''] = target.split('#');
      const file = to === '' ? path : to.startsWith('/') ? to.slice(1) : normalize(join(dirname(path), to));
      return { file: decodeURIComponent(file === '' || file.endsWith('/') ? `${file}index.html` : file), anchor };
    });
}

it('has no dead links and no dead anchors', () => {
  const dead = pages().flatMap((path) =>
    linksOf(path).flatMap(({ file, anchor }) => {
      const target = join(siteFolder, file);
      if (!existsSync(target)) return [`${path}: no file ${file}`];
      const isDead = anchor !== '' && !readFileSync(target, 'utf8').includes(`id="${decodeURIComponent(anchor)}"`);
      return isDead ? [`${path}: ${file} has no #${anchor}`] : [];
    }),
  );
  expect(pages().length).toBeGreaterThan(80);
  expect(dead).toEqual([]);
});

it('leads from its root to the index, and from there by a click to a page', async () => {
  const { page, errors } = await openPage(browser, `${origin}/`);
  await page.waitForURL(`${origin}/${startPage}`);
  await page.locator('.VPSidebar a', { hasText: 'Data flow' }).click();
  await page.waitForURL(`${origin}/docs/concepts/data-flow.html`);
  await page.locator('h1', { hasText: 'Data flow' }).waitFor();
  expect(errors).toEqual([]);
  await page.context().close();
});

it('finds a page by a word in it', async () => {
  const { page, errors } = await openPage(browser, `${origin}/${startPage}`);
  await page.locator('.VPNavBarSearch button').first().click();
  await page.locator('#localsearch-input').fill('mass-removal guard');
  const result = page.locator('#localsearch-list a[href*="mass-removal"]').first();
  await result.waitFor();
  await result.click();
  await page.waitForURL(/mass-removal/);
  expect(errors).toEqual([]);
  await page.context().close();
});

describe.each(['light', 'dark'] as const)('in %s', (colors) => {
  it.each([
    startPage,
    'README.html',
    'docs/guides/fleet.html',
    'docs/reference/metrics.html',
    'docs/operations/capacity.html',
  ])('axe finds no violation in %s', async (path) => {
    expect(await accessibilityOf(browser, `${origin}/${path}`, 'h1', colors)).toEqual([]);
  });
});
