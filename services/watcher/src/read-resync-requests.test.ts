import { LogTruncatedError, MemoryBus, type StreamOffset } from '@sluice/bus';
import { encodeMessage, type ResyncRequest } from '@sluice/messages';
import { silentLogger } from '@sluice/platform';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { type ReadResyncRequestsOptions, readResyncRequests } from './read-resync-requests.ts';

let bus: MemoryBus;
let stop: AbortController;
let reading: Promise<void>;
/** What was requested: the reason; null for what may have been lost. */
let requested: (string | null)[];
let answered: [StreamOffset, readonly string[]][];

beforeEach(() => {
  bus = new MemoryBus({ partitions: 1 });
  stop = new AbortController();
  [requested, answered] = [[], []];
  reading = Promise.resolve();
});

afterEach(async () => {
  stop.abort();
  await reading;
});

const settled = () => new Promise((resolve) => setImmediate(resolve));

async function append(...payloads: readonly Uint8Array[]): Promise<void> {
  await bus.append(
    'requests',
    0,
    payloads.map((payload, i) => ({ key: 'resync', id: `r${i}`, headers: {}, payload })),
  );
  await settled();
}

const request = (reason: string): Uint8Array => {
  const message: ResyncRequest = { kind: 'resync', reason, scope: { partition: 0 } };
  return encodeMessage(message);
};

const options = (given: Partial<ReadResyncRequestsOptions> = {}): ReadResyncRequestsOptions => ({
  ...{ bus, logger: silentLogger },
  onRequest: (message) => {
    requested.push(message?.reason ?? null);
    return [`c/shop/${message?.reason ?? 'all'}`];
  },
  onAnswered: async (offset, services) => void answered.push([offset, services]),
  ...given,
});

async function read(given: Partial<ReadResyncRequestsOptions> = {}): Promise<void> {
  reading = readResyncRequests(options(given), stop.signal);
  await settled();
}

const at = (offset: number) => expect.objectContaining({ offset, streamId: 'memory' });

describe('without a known offset', () => {
  test('everything may have been requested before the end; later requests are answered', async () => {
    await append(request('old'));
    await read();
    await append(request('web'), request('db'));
    expect(requested).toEqual([null, 'web', 'db']);
    expect(answered).toEqual([
      [at(1), ['c/shop/all']],
      [at(3), ['c/shop/web', 'c/shop/db']],
    ]);
  });
});

describe('after the offset of the previous watcher', () => {
  test('only what follows is answered', async () => {
    await append(request('old'), request('web'));
    await read({ after: { offset: 1, id: 'r0', streamId: 'memory' } });
    expect(requested).toEqual(['web']);
    expect(answered).toEqual([[{ offset: 2, id: 'r1', streamId: 'memory' }, ['c/shop/web']]]);
  });

  test('that is no longer in the log, everything may have been requested', async () => {
    await append(request('old'));
    await read({ after: { offset: 9, id: 'r', streamId: 'memory' } });
    await append(request('web'));
    expect(requested).toEqual([null, 'web']);
    expect(answered.map(([offset]) => offset)).toEqual([at(1), at(2)]);
  });
});

test('requests are read in batches, and the next one waits until the last one is answered', async () => {
  await append(...Array.from({ length: 150 }, (_, i) => request(`web-${i}`)));
  const stored = Promise.withResolvers<void>();
  await read({
    after: { offset: 0, id: '', streamId: 'memory' },
    onAnswered: async (offset, services) => {
      answered.push([offset, services]);
      await stored.promise;
    },
  });
  expect(answered.map(([{ offset }, services]) => [offset, services.length])).toEqual([[100, 100]]);
  stored.resolve();
  await settled();
  expect(answered.map(([{ offset }, services]) => [offset, services.length])).toEqual([
    [100, 100],
    [150, 50],
  ]);
});

test('records that are no resync requests are ignored, and count as answered', async () => {
  await read();
  await append(
    new TextEncoder().encode('{'),
    encodeMessage({ kind: 'clusterRemoved', cluster: 'c', epoch: 1, removedAt: 1 }),
    request('web'),
  );
  expect(requested).toEqual([null, 'web']);
  expect(answered.at(-1)).toEqual([at(3), ['c/shop/web']]);
});

test('answers need no acknowledgement', async () => {
  await read({ onAnswered: () => undefined });
  await append(request('web'));
  expect(requested).toEqual([null, 'web']);
});

test('reading ends when it is stopped, and then answers nothing', async () => {
  await read();
  stop.abort();
  await reading;
  await append(request('web'));
  expect(requested).toEqual([null]);
});

test('an error of the log ends reading', async () => {
  bus.end = () => Promise.reject(new Error('no connection'));
  await expect(readResyncRequests(options(), stop.signal)).rejects.toThrow('no connection');
  expect(requested).toEqual([]);
});

test('a log that is truncated while its end is asked for is read again', async () => {
  const end = bus.end.bind(bus);
  bus.end = () => {
    bus.end = end;
    return Promise.reject(new LogTruncatedError('gone'));
  };
  await read();
  expect(requested).toEqual([null]);
});
