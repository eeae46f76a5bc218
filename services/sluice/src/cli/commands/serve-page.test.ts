import { silentLogger, VirtualClock } from '@sluice/platform';
import { isUsageError, parseBindAddress } from '@sluice/platform/process';
import { Metrics } from '@sluice/telemetry';
import { afterEach, expect, test } from 'vitest';
import { type Addresses, addressesOf, pageAddressesOf, serve } from './serve-page.ts';

/** A configuration with these addresses; undefined: the default one. */
const given = (page: string | undefined, metrics: string | undefined) => ({
  console: { bindAddress: page === undefined ? undefined : (parseBindAddress(page) ?? undefined) },
  metricsBindAddress: metrics === undefined ? undefined : parseBindAddress(metrics),
});

test.each([
  [undefined, undefined],
  [undefined, '127.0.0.1:10270'],
  ['127.0.0.1:10280', ':10270'],
  ['127.0.0.1:10280', '0'],
  ['[::1]:10270', '127.0.0.1:10270'],
  ['127.0.0.1:10270', '10.1.2.3:10270'],
  ['localhost:0', '127.0.0.1:0'],
])('a page at %s and metrics at %s are accepted', (page, metrics) => {
  expect(() => pageAddressesOf(given(page, metrics))).not.toThrow();
});

test.each([
  [':10280', undefined, /^--console-bind-address :10280 is not loopback, and this page has no token: use/],
  ['10.1.2.3:10280', ':10270', /is not loopback/],
  ['127.0.0.1:10270', '127.0.0.1:10270', /needed by --metrics-bind-address 127\.0\.0\.1:10270: choose another port/],
  ['127.0.0.1:10270', ':10270', /needed by --metrics-bind-address :10270/],
  ['[::1]:10270', '[::]:10270', /needed by --metrics-bind-address \[::\]:10270/],
])('a page at %s and metrics at %s are refused', (page, metrics, message) => {
  const configuration = given(page, metrics);
  expect(() => addressesOf(configuration)).toThrow(message);
  expect(() => addressesOf(configuration)).toThrow(expect.toSatisfy(isUsageError));
});

test.each([':10270', '0'])('a process that is useless without its page has it at more than %s', (metrics) => {
  expect(() => addressesOf(given(undefined, metrics))).not.toThrow();
  expect(() => pageAddressesOf(given(undefined, metrics))).toThrow(/pass --console-bind-address 127\.0\.0\.1:10280/);
});

const clock = new VirtualClock(0);
const closing: (() => Promise<void>)[] = [];
const anyPort = { host: '127.0.0.1', port: 0 };

afterEach(async () => {
  for (const close of closing.splice(0)) await close();
});

async function served(addresses: Addresses, hasPage = true): Promise<readonly string[]> {
  const metrics = new Metrics({ clusters: new Map() });
  const health = { livez: () => [], readyz: () => [] };
  const { introduction, close } = await serve(
    addresses,
    { metrics, health, clock, ...(hasPage && { otherwise: (_, response) => void response.end('page') }) },
    silentLogger,
  );
  closing.push(close);
  return introduction;
}

/** The URLs in the lines at startup. */
const urls = (lines: readonly string[]) => lines.map((line) => /http:[^ ]+?:\d+/.exec(line)?.[0] ?? '');

const answers = async (url: string) =>
  Promise.all(['/', '/api/v1/overview', '/metrics', '/readyz'].map(async (path) => (await fetch(url + path)).status));

test('with an address of its own, the page and its API are not at that of the metrics', async () => {
  const [page = '', metrics = ''] = urls(await served({ page: anyPort, metrics: anyPort }));
  expect(await (await fetch(page)).text()).toBe('page');
  expect(await answers(page)).toEqual([200, 200, 200, 200]);
  expect(await answers(metrics)).toEqual([404, 404, 200, 200]);
});

test('the page may be the only one with an address', async () => {
  const lines = await served({ page: anyPort, metrics: null });
  expect(lines).toEqual([expect.stringMatching(/^Console: /)]);
  expect(await answers(urls(lines)[0] ?? '')).toEqual([200, 200, 200, 200]);
});

test('without an address of its own, the page is at that of the metrics', async () => {
  const lines = await served({ metrics: anyPort });
  const [url = ''] = urls(lines);
  expect(lines).toEqual([`Console: ${url} (commands need --console ${url})`, `Metrics: ${url}/metrics`]);
  expect(await answers(url)).toEqual([200, 200, 200, 200]);
});

test('a process without a page has only metrics, also if the page has an address', async () => {
  const lines = await served({ page: anyPort, metrics: anyPort }, false);
  const [url = ''] = urls(lines);
  expect(lines).toEqual([`Metrics: ${url}/metrics`]);
  expect(await answers(url)).toEqual([404, 404, 200, 200]);
});

test('the page is closed if the metrics cannot be served', async () => {
  const [url = ''] = urls(await served({ metrics: anyPort }));
  const taken = parseBindAddress(url.replace('http://', ''));
  await expect(served({ page: anyPort, metrics: taken })).rejects.toThrow(/^--metrics-bind-address .* is in use/);
});
