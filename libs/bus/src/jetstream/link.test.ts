import { seededRandom, silentLogger } from '@sluice/platform';
import { afterEach, expect, test } from 'vitest';
import { isSupported, openLink } from './link.ts';
import { settings } from './options.ts';
import { startProtocolServer } from './testing/protocol-server.ts';

const neverDue = { now: Date.now, monotonic: () => performance.now(), schedule: () => () => {} };
const endings: (() => unknown)[] = [];
afterEach(async () => {
  for (const end of endings.splice(0).reverse()) await end();
});

test('the size limit of the server holds while the client is disconnected', async () => {
  const { port, connections, close } = await startProtocolServer(8192);
  endings.push(close);
  const all = settings({ servers: [`127.0.0.1:${port}`], fleet: 'f', partitions: 1 });
  const link = await openLink(all, { clock: neverDue, random: seededRandom(1), logger: silentLogger });
  endings.push(() => link.close());
  close();
  connections[0]?.destroy();
  await expect.poll(() => link.nc.info).toBeUndefined();
  expect(link.maxPayload).toBe(8192);
});

test('the first connection is not retried after the signal', async () => {
  const all = settings({ servers: ['127.0.0.1:1'], fleet: 'f', partitions: 1 });
  const signal = AbortSignal.abort(new Error('no store'));
  const ports = { clock: neverDue, random: seededRandom(1), logger: silentLogger };
  await expect(openLink(all, ports, signal)).rejects.toThrow('no store');
  const later = new AbortController();
  const warned = { ...silentLogger, warn: () => later.abort(new Error('no store')) };
  await expect(openLink(all, { ...ports, logger: warned }, later.signal)).rejects.toThrow('no store');
});

test.each([
  ['2.9.10', false],
  ['2.13.9', false],
  ['2.14.0', true],
  ['2.15.2', true],
  ['2.14.0-RC.1', true],
  ['3.0.0', true],
  ['', false],
])('server %s is supported: %s', (version, supported) => {
  expect(isSupported(version)).toBe(supported);
});
