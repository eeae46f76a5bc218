import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { fetchTrace, type HistoryView, type ServiceList, type TraceView } from '@sluice/console';
import { type Jaeger, startJaeger } from '@sluice/local';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { accessibilityOf } from './harness/page/accessibility.ts';
import { startChromium } from './harness/page/chromium.ts';
import { type ServedConsole, serveConsole } from './harness/page/served-console.ts';
import { Shop } from './harness/page/shop.ts';
import { openPage } from './harness/page/watched-page.ts';

/** Traces from a real Jaeger in the console's API, in the CLI, and in the page in a real browser. */
const main = fileURLToPath(new URL('../services/sluice/src/main.ts', import.meta.url));
let directory: string;
let jaeger: Jaeger;
let browser: Browser;
let served: ServedConsole;
let shop: Shop;

beforeAll(async () => {
  directory = mkdtempSync(join(tmpdir(), 'sluice-console-traces-'));
  [jaeger, browser] = await Promise.all([startJaeger({ directory }), startChromium()]);
  served = await serveConsole(jaeger);
  shop = new Shop(served.server);
  shop.addService('web', 2);
});

afterAll(async () => {
  await browser?.close();
  await served?.stop();
  await jaeger?.stop();
  rmSync(directory, { recursive: true, force: true });
});

const get = async (path: string) => (await fetch(`${served.url}${path}`)).json();
const readyOf = async () => ((await get('/api/v1/services?q=shop/web')) as ServiceList).items[0]?.ready;

/** Id of the trace of the last write for this Pod. */
async function traceOf(pod: string): Promise<string | undefined> {
  const { entries } = (await get(`/api/v1/services/prod/shop/web/history?pod=${pod}`)) as HistoryView;
  return entries.findLast(({ kind }) => kind === 'completed')?.traceparent?.slice(3, 35);
}

async function wholeTrace(traceId: string): Promise<TraceView> {
  const isWhole = ({ spans = [] }: Partial<TraceView>) => spans.some(({ name }) => name === 'process mutations');
  await expect.poll(async () => isWhole((await get(`/api/v1/traces/${traceId}`)) as TraceView)).toBe(true);
  return (await get(`/api/v1/traces/${traceId}`)) as TraceView;
}

async function sluice(...args: string[]): Promise<string> {
  const { stdout } = await promisify(execFile)(process.execPath, [main, ...args, '--console', served.url]);
  return stdout;
}

test('the page links from a history entry to its trace, and back to the Service', async () => {
  await expect.poll(readyOf).toBe(2);
  shop.setPod('web', 'web-1', false);
  await expect.poll(readyOf).toBe(1);
  const traceId = (await traceOf('web-1')) ?? '';
  const trace = await wholeTrace(traceId);
  expect(trace.service).toMatchObject({ namespace: 'shop', name: 'web' });
  expect(trace.services).toEqual(['sluice-watcher', 'sluice-reconciler', 'sluice-writer']);
  expect(trace.spans.map(({ depth }) => depth)).toEqual(expect.arrayContaining([0, 1, 2, 3, 4, 5, 6]));

  const { page, errors } = await openPage(browser, `${served.url}/services/prod/shop/web`);
  const line = page.locator('.timeline li.completed', { hasText: 'web-1 ready → not ready' }).first();
  await line.getByRole('link', { name: 'trace' }).click();
  await page.getByRole('heading', { name: 'Pod shop/web-1 became not ready' }).waitFor();
  await expect.poll(() => page.locator('.span.writer').count()).toBeGreaterThan(1);
  const write = page.locator('.span', { hasText: 'process mutations' }).first();
  await write.getByRole('button').click();
  await expect.poll(() => write.textContent()).toMatch(/sluice\.statusapplied/);
  await page.keyboard.press('Escape');
  await expect.poll(() => page.locator('.span dl').count()).toBe(0);
  await page.keyboard.press('j');
  await expect.poll(() => page.locator('.span.open .name').textContent()).toContain('watch Pod');
  await page.keyboard.press('Escape');
  await page.getByRole('link', { name: 'shop/web' }).click();
  await page.locator('.timeline li.completed').first().waitFor();
  expect(errors).toEqual([]);
  for (const theme of ['dark', 'light'] as const)
    expect(await accessibilityOf(browser, `${served.url}/traces/${traceId}`, '.span', theme)).toEqual([]);
  await page.close();
});

test('the trace of a failed write contains the reason', async () => {
  served.refuse('web', 'denied by policy');
  shop.setPod('web', 'web-2', false);
  const refused = async () => {
    const { entries } = (await get('/api/v1/services/prod/shop/web/history')) as HistoryView;
    const entry = entries.findLast((one) => one.kind === 'completed' && one.status === 'rejected');
    return entry?.traceparent?.slice(3, 35);
  };
  await expect.poll(refused).toBeDefined();
  const trace = await wholeTrace((await refused()) ?? '');
  const spanErrors = trace.spans.flatMap(({ name, error }) => (error === null ? [] : [`${name}: ${error}`]));
  expect(spanErrors).toContainEqual(expect.stringMatching(/^process mutations: rejected: .*denied by policy/));
});

test('the CLI lists the traces of a Service and prints one as a tree', async () => {
  const traceId = (await traceOf('web-1')) ?? '';
  const list = await sluice('trace', 'shop/web');
  expect(list).toContain(traceId);
  const tree = await sluice('trace', 'shop/web', '--id', traceId);
  expect(tree).toMatch(/^Pod shop\/web-1 became not ready, [0-9:.]+: [0-9.]+ ms, trace [0-9a-f]{32}\n/);
  expect(tree).toMatch(/^watcher: watch Pod +0\.00 +[0-9.]+ +█/m);
  expect(tree).toMatch(/^ +writer: process mutations applied +[0-9.]+ +[0-9.]+ +█/m);
  expect(list, 'the newest trace is printed below the list').toMatch(/█/);
});

test('the API rejects unknown and malformed trace ids', async () => {
  expect(await get(`/api/v1/traces/${'0'.repeat(31)}1`)).toMatchObject({
    error: `Jaeger has no trace ${'0'.repeat(31)}1`,
  });
  expect(await get('/api/v1/traces/nonsense')).toMatchObject({ error: expect.stringContaining('32 hexadecimal') });
});

test('reports a Jaeger that is slow, stopped or not Jaeger', async () => {
  const stuck = createServer((request, response) => {
    if (request.url?.startsWith('/api/traces/0')) return;
    if (request.url?.startsWith('/api/traces/1')) response.end('<html>');
    else response.writeHead(500).end('{}');
  });
  await new Promise<void>((resolve) => stuck.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${(stuck.address() as AddressInfo).port}`;
  await expect(fetchTrace(url, '0', 100)).rejects.toThrow(`no response from ${url} within 0.1 s`);
  await expect(fetchTrace(url, '1')).rejects.toThrow('is not JSON');
  await expect(fetchTrace(url, '2')).rejects.toThrow(`${url} returned HTTP status 500`);
  stuck.closeAllConnections();
  stuck.close();
  const { page } = await openPage(browser, `${served.url}/traces/${await traceOf('web-1')}`);
  await page.locator('.span').first().waitFor();
  await jaeger.process.kill();
  await page.reload();
  await page.getByText('cannot read the trace from Jaeger: ').waitFor();
  await page.goto(`${served.url}/services/prod/shop/web`);
  await page.locator('.timeline li.completed').first().waitFor();
  await page.close();
});
