import { VirtualClock } from '@sluice/platform';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import {
  type ClusterReader,
  type Resource,
  type SkippedObject,
  type WatchEvent,
  watchedResources,
} from '../cluster.ts';
import { chainReader } from '../middleware.ts';
import { EarlyWatches } from './early-watches.ts';

interface Opened {
  readonly resource: Resource;
  readonly from: string;
  readonly initial: boolean;
  read: number;
  ended: boolean;
}

const bookmark = (resourceVersion: string): WatchEvent => ({ type: 'BOOKMARK', resourceVersion });
const clock = new VirtualClock(0);
let opened: Opened[];
let failure: Error | undefined;
let stop: AbortController;
let closed: AbortController;

/** Sends three batches, then stays open. */
const reader: ClusterReader = {
  watchList: true,
  identity: async () => 'uid',
  list: async () => ({ items: [], resourceVersion: '1', continueToken: '' }),
  async *watch(resource, from, signal, options = {}) {
    const watch: Opened = { resource, from, initial: options.sendInitialEvents === true, read: 0, ended: false };
    opened.push(watch);
    options.onSkipped?.({ resource, namespace: 'ns', name: 'malformed', why: 'no spec' });
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
  closed = new AbortController();
});

afterEach(() => {
  stop.abort();
  closed.abort();
});

const eventLoopTurn = () => new Promise((resolve) => setImmediate(resolve));
const openEarly = (readAhead?: number) =>
  chainReader(
    reader,
    new EarlyWatches(reader, { signal: closed.signal, clock, ...(readAhead && { readAhead }) }).middleware,
  );

describe('before a reader requests a watch', () => {
  test('a WatchList of each resource is open and only its first batch is read', async () => {
    openEarly();
    await eventLoopTurn();
    expect(opened.map(({ resource, from, initial, read }) => [resource, from, initial, read])).toEqual(
      watchedResources.map((resource) => [resource, '', true, 1]),
    );
  });

  test('a limited number of events is read ahead, and the reader receives all of them in order', async () => {
    const early = openEarly(2);
    await eventLoopTurn();
    expect(opened.map(({ read }) => read)).toEqual([2, 2, 2, 2, 2]);
    const received: (readonly WatchEvent[])[] = [];
    for await (const batch of early.watch('pods', '', stop.signal, { sendInitialEvents: true })) {
      received.push(batch);
      if (received.length === 3) break;
    }
    expect(received).toEqual([[], [bookmark('1')], [bookmark('2')]]);
  });

  test('the signal closes the watches that nobody has taken over', async () => {
    const early = openEarly();
    const pods = early.watch('pods', '', stop.signal, { sendInitialEvents: true })[Symbol.asyncIterator]();
    await pods.next();
    closed.abort();
    expect((await pods.next()).value).toEqual([bookmark('1')]);
  });
});

test('the first reader takes the early watch over, from its first batch', async () => {
  const early = openEarly();
  const received: (readonly WatchEvent[])[] = [];
  for await (const batch of early.watch('pods', '', stop.signal, { sendInitialEvents: true })) {
    received.push(batch);
    if (received.length === 3) break;
  }
  expect(received).toEqual([[], [bookmark('1')], [bookmark('2')]]);
  expect(opened).toHaveLength(watchedResources.length);
  expect(opened.find(({ resource }) => resource === 'pods')?.ended).toBe(true);
  await early.watch('pods', '', stop.signal, { sendInitialEvents: true })[Symbol.asyncIterator]().next();
  expect(opened).toHaveLength(watchedResources.length + 1);
});

test('a watch that was taken over ends with its reader’s signal', async () => {
  const early = openEarly();
  const received: unknown[] = [];
  for await (const batch of early.watch('nodes', '', stop.signal, { sendInitialEvents: true })) {
    if (received.push(batch) === 3) stop.abort();
  }
  expect(received).toHaveLength(3);
});

test('a failure reaches the reader that takes the watch over', async () => {
  failure = new Error('forbidden');
  const early = openEarly();
  await eventLoopTurn();
  const pods = early.watch('pods', '', stop.signal, { sendInitialEvents: true })[Symbol.asyncIterator]();
  await expect(pods.next()).rejects.toThrow('forbidden');
});

test('a WatchList from a version on takes the early watch over, whose version its reader checks', async () => {
  const early = openEarly();
  await early.watch('pods', '7', stop.signal, { sendInitialEvents: true })[Symbol.asyncIterator]().next();
  expect(opened.filter(({ resource }) => resource === 'pods').map(({ from }) => from)).toEqual(['']);
});

test('another watch than that is a new one, and that is closed up', async () => {
  const early = openEarly();
  await early.watch('pods', '7', stop.signal)[Symbol.asyncIterator]().next();
  expect(opened.filter(({ resource }) => resource === 'pods').map(({ from }) => from)).toEqual(['', '7']);
});

test('what an early watch has skipped is reported to the reader that takes it over', async () => {
  const early = openEarly();
  await eventLoopTurn();
  const skipped: string[] = [];
  const onSkipped = ({ resource, name }: SkippedObject) => void skipped.push(`${resource} ${name}`);
  await early.watch('pods', '', stop.signal, { sendInitialEvents: true, onSkipped })[Symbol.asyncIterator]().next();
  expect(skipped).toEqual(['pods malformed']);
});

describe('the early watches are ready', () => {
  const isReady = async (readAhead: number, batches?: readonly (readonly WatchEvent[])[]) => {
    const sending = async function* () {
      yield* batches ?? [];
      await new Promise(() => {});
    };
    const watched = batches === undefined ? reader : { ...reader, watch: sending };
    let ready = false;
    void new EarlyWatches(watched, { signal: closed.signal, clock, readAhead }).ready.then(() => {
      ready = true;
    });
    await eventLoopTurn();
    return ready;
  };
  const end: WatchEvent = { type: 'BOOKMARK', resourceVersion: '9', initialEventsEnd: true };
  const added: WatchEvent = { type: 'ADDED', object: { metadata: { name: 'a', resourceVersion: '1' } } };

  test('when the initial events of each resource are read', async () => {
    expect(await isReady(100, [[added], [added, end]])).toBe(true);
    expect(await isReady(100, [[added], [added], [bookmark('9')]])).toBe(false);
  });

  test('when as many events are read as may be; an empty batch counts as one', async () => {
    expect(await isReady(3, [[added, added], []])).toBe(true);
    expect(await isReady(4, [[added, added], []])).toBe(false);
  });

  test('when the watches have failed', async () => {
    failure = new Error('forbidden');
    expect(await isReady(100)).toBe(true);
  });
});

test('a reader whose signal has aborted before it takes the watch over closes it', async () => {
  const early = openEarly();
  await eventLoopTurn();
  stop.abort();
  for await (const _ of early.watch('pods', '', stop.signal, { sendInitialEvents: true })) {
    // What was read ahead.
  }
  expect(opened.filter(({ resource, ended }) => resource === 'pods' && ended)).toHaveLength(1);
});

test('after the signal, a reader gets a watch of its own', async () => {
  const early = openEarly();
  await eventLoopTurn();
  closed.abort();
  await early.watch('pods', '', stop.signal, { sendInitialEvents: true })[Symbol.asyncIterator]().next();
  expect(opened.filter(({ resource }) => resource === 'pods')).toHaveLength(2);
});

test('the early watch is closed if the first watch of its resource is another one', async () => {
  const early = openEarly();
  await eventLoopTurn();
  await early.watch('pods', '7', stop.signal)[Symbol.asyncIterator]().next();
  // A reader that wants the initial events later gets current ones.
  await early.watch('pods', '', stop.signal, { sendInitialEvents: true })[Symbol.asyncIterator]().next();
  expect(opened.filter(({ resource }) => resource === 'pods').map(({ from }) => from)).toEqual(['', '7', '']);
});

test('a list leaves the early watch open', async () => {
  const early = openEarly();
  await eventLoopTurn();
  await early.list('pods', { limit: 1, continueToken: '' }, stop.signal);
  await early.watch('pods', '', stop.signal, { sendInitialEvents: true })[Symbol.asyncIterator]().next();
  expect(opened.filter(({ resource }) => resource === 'pods')).toHaveLength(1);
});

test('the list of an early watch is not older than its reader asks for', async () => {
  const end: WatchEvent = { type: 'BOOKMARK', resourceVersion: '5', initialEventsEnd: true };
  const sending = async function* () {
    yield [end];
    yield [bookmark('7')];
  };
  const { middleware } = new EarlyWatches({ ...reader, watch: sending }, { signal: closed.signal, clock });
  const received: (readonly WatchEvent[])[] = [];
  const options = { sendInitialEvents: true };
  for await (const batch of chainReader(reader, middleware).watch('pods', '7', stop.signal, options)) {
    received.push(batch);
  }
  expect(received).toEqual([[], [{ ...end, resourceVersion: '7' }]]);
});

test('skipped objects are reported once, and those of other resources are not', async () => {
  const early = openEarly(3);
  await eventLoopTurn();
  const skipped: string[] = [];
  const onSkipped = ({ resource }: SkippedObject) => void skipped.push(resource);
  for (const resource of ['pods', 'nodes'] as const) {
    await early.watch(resource, '', stop.signal, { sendInitialEvents: true, onSkipped })[Symbol.asyncIterator]().next();
  }
  expect(skipped).toEqual(['pods', 'nodes']);
});
