import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { type ClusterReader, type Resource, type WatchEvent, watchedResources } from './cluster.ts';
import { EarlyReader } from './early-reader.ts';

interface Opened {
  readonly resource: Resource;
  readonly from: string;
  readonly initial: boolean;
  read: number;
  ended: boolean;
}

const bookmark = (resourceVersion: string): WatchEvent => ({ type: 'BOOKMARK', resourceVersion });
let opened: Opened[];
let failure: Error | undefined;
let stop: AbortController;
let given: AbortController;

/** Tells three batches, then waits for its end. */
const reader: ClusterReader = {
  identity: async () => 'uid',
  list: async () => ({ items: [], resourceVersion: '1', continueToken: '' }),
  async *watch(resource, from, signal, options = {}) {
    const watch: Opened = { resource, from, initial: options.sendInitialEvents === true, read: 0, ended: false };
    opened.push(watch);
    if (failure !== undefined) throw failure;
    try {
      for (const batch of [[], [bookmark('1')], [bookmark('2')]]) {
        watch.read++;
        yield batch;
      }
      if (!signal.aborted) await new Promise((resolve) => signal.addEventListener('abort', resolve));
    } finally {
      watch.ended = true;
    }
  },
};

beforeEach(() => {
  opened = [];
  failure = undefined;
  stop = new AbortController();
  given = new AbortController();
});

afterEach(() => {
  stop.abort();
  given.abort();
});

const turn = () => new Promise((resolve) => setImmediate(resolve));

describe('before anybody asks', () => {
  test('all resources are watched from their first state on, and no more is read than the beginning', async () => {
    new EarlyReader(reader, given.signal);
    await turn();
    expect(opened.map(({ resource, from, initial, read }) => [resource, from, initial, read])).toEqual(
      watchedResources.map((resource) => [resource, '', true, 1]),
    );
  });

  test('the signal ends them, and not what was asked for', async () => {
    const early = new EarlyReader(reader, given.signal);
    const pods = early.watch('pods', '', stop.signal, { sendInitialEvents: true })[Symbol.asyncIterator]();
    await pods.next();
    given.abort();
    expect((await pods.next()).value).toEqual([bookmark('1')]);
  });
});

test('who asks gets what was opened, from its beginning, once', async () => {
  const early = new EarlyReader(reader, given.signal);
  const told: (readonly WatchEvent[])[] = [];
  for await (const batch of early.watch('pods', '', stop.signal, { sendInitialEvents: true })) {
    told.push(batch);
    if (told.length === 3) break;
  }
  expect(told).toEqual([[], [bookmark('1')], [bookmark('2')]]);
  expect(opened).toHaveLength(watchedResources.length);
  expect(opened.find(({ resource }) => resource === 'pods')?.ended).toBe(true);
  await early.watch('pods', '', stop.signal, { sendInitialEvents: true })[Symbol.asyncIterator]().next();
  expect(opened).toHaveLength(watchedResources.length + 1);
});

test('it ends with the signal of who asked', async () => {
  const early = new EarlyReader(reader, given.signal);
  const told: unknown[] = [];
  for await (const batch of early.watch('nodes', '', stop.signal, { sendInitialEvents: true })) {
    if (told.push(batch) === 3) stop.abort();
  }
  expect(told).toHaveLength(3);
});

test('a failure is told to who asks, and to nobody else', async () => {
  failure = new Error('forbidden');
  const early = new EarlyReader(reader, given.signal);
  await turn();
  const pods = early.watch('pods', '', stop.signal, { sendInitialEvents: true })[Symbol.asyncIterator]();
  await expect(pods.next()).rejects.toThrow('forbidden');
});

test('another watch than that is a new one, and that is given up', async () => {
  const early = new EarlyReader(reader, given.signal);
  await early.watch('pods', '7', stop.signal)[Symbol.asyncIterator]().next();
  expect(opened.filter(({ resource }) => resource === 'pods').map(({ from }) => from)).toEqual(['', '7']);
});
