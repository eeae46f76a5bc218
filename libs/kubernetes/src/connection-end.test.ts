import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { silentLogger, VirtualClock } from '@sluice/platform';
import { afterEach, describe, expect, test } from 'vitest';
import { type ApiRequest, Connection } from './connection.ts';
import { connect, type Handler, json, noAbort, startServer } from './testing/fixtures.ts';
import { certificateFingerprints } from './transport.ts';

const cleanups: (() => Promise<void>)[] = [];

afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

async function given(handler: Handler, timeoutMs?: number) {
  const server = await startServer(handler);
  const { connection, clock, close } = await connect(server.url, {}, timeoutMs === undefined ? {} : { timeoutMs });
  cleanups.push(server.close, close);
  return { server, connection, clock };
}

const get: ApiRequest = { method: 'GET', path: '/x', signal: noAbort };

describe('the time limit', () => {
  test.each([
    ['of a request, by default', {}, undefined, 30_000],
    ['of a request of this connection', {}, 700, 700],
    ['of this request', { timeoutMs: 900 }, 700, 900],
  ])('%s', async (_, own, ofConnection, expected) => {
    const { connection, clock, server } = await given(() => {}, ofConnection);
    const outcome = expect(connection.request({ ...get, ...own })).rejects.toMatchObject({ reason: 'Timeout' });
    await expect.poll(() => server.requests.length).toBe(1);
    expect(clock.nextAt()).toBe(clock.now() + expected);
    clock.step();
    await outcome;
  });

  test('ends with the response', async () => {
    const { connection, clock } = await given((_, response) => json(response, 200, {}));
    await connection.request(get);
    expect(clock.nextAt()).toBeUndefined();
  });

  test('of a stream covers the time to its headers', async () => {
    const { connection, clock, server } = await given(() => {});
    const stream = connection.stream({ ...get, timeoutMs: 800, idleMs: 5_000 });
    const outcome = expect(stream).rejects.toMatchObject({
      ...{ reason: 'Timeout', message: expect.stringContaining('no response from') },
    });
    await expect.poll(() => server.requests.length).toBe(1);
    clock.step(clock.now() + 800);
    await outcome;
    expect(clock.nextAt()).toBeUndefined();
  });

  test('of a stream ends with its data', async () => {
    const { connection, clock } = await given((_, response) => response.end('one'));
    const { chunks } = await connection.stream({ ...get, idleMs: 5_000 });
    const read: string[] = [];
    for await (const chunk of chunks) read.push(`${chunk}`);
    expect([read, clock.nextAt()]).toEqual([['one'], undefined]);
  });
});

describe('a connection', () => {
  test('that is closed completes the requests in flight', async () => {
    const held = Promise.withResolvers<void>();
    const { connection, server } = await given((_, response) => void held.promise.then(() => json(response, 200, {})));
    const response = connection.request(get);
    await expect.poll(() => server.requests.length).toBe(1);
    let isClosed = false;
    const closed = connection.close().then(() => {
      isClosed = true;
    });
    await new Promise((resolve) => setImmediate(resolve));
    expect(isClosed).toBe(false);
    held.resolve();
    expect(await response).toMatchObject({ status: 200 });
    await closed;
    await expect(connection.request(get)).rejects.toMatchObject({ kind: 'retry', status: 0 });
  });

  test('that is destroyed fails the requests in flight', async () => {
    const { connection, server } = await given(() => {});
    const outcome = expect(connection.request(get)).rejects.toMatchObject({ kind: 'retry', status: 0 });
    await expect.poll(() => server.requests.length).toBe(1);
    await connection.destroy();
    await outcome;
  });

  test('that has sent nothing can be closed', async () => {
    const { connection } = await given(() => {});
    await connection.close();
    await connection.destroy();
  });
});

describe('the authorities of a connection', () => {
  const ca = () => readFile(path.join(import.meta.dirname, 'testdata', 'ca.crt'));
  const connectionWith = (options: object) => {
    const access = {
      ...{ context: 'c', server: 'https://api.test', source: 'test', proxyUrl: undefined },
      open: async () => ({ applyToHTTPSOptions: async (target: object) => void Object.assign(target, options) }),
    };
    return new Connection({ access, userAgent: 'test', clock: new VirtualClock(0), logger: silentLogger });
  };

  test('are those that it verifies the server with', async () => {
    expect(await connectionWith({ ca: await ca() }).authorities()).toEqual(certificateFingerprints(await ca()));
    expect(await connectionWith({}).authorities()).toEqual([]);
    expect(await connectionWith({ ca: await ca(), rejectUnauthorized: false }).authorities()).toEqual([]);
  });
});
