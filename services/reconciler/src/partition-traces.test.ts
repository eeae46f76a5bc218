import { MemoryBus, streamStart } from '@sluice/bus';
import { encodeMessage, type Message, siblingOf, type TraceContext, traceHeaders, traceOf } from '@sluice/messages';
import { seededRandom, silentLogger, sleep, VirtualClock } from '@sluice/platform';
import { advance } from '@sluice/platform/testing';
import { defaultSettings, type Settings } from '@sluice/service-state';
import { aChange, aService, aSnapshot, fact, keyText } from '@sluice/service-state/testing';
import { FencedError, MemoryStore } from '@sluice/store';
import { type RecordedSpan, RecordedSpans } from '@sluice/telemetry/testing';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { PartitionWorker } from './partition-worker.ts';

const service = { kind: 'service', service: aService() } as const;
const settings = { ...defaultSettings, controllers: new Set(['endpointslice'] as const) };

let clock: VirtualClock;
let bus: MemoryBus;
let store: MemoryStore;
let recorded: RecordedSpans;
let spans: RecordedSpan[];
let stop: AbortController;
let running: Promise<void>;
/** Trace context of the Change. */
let change: TraceContext;

const tracer = (seed: number) => recorded.tracer({ seed });

beforeEach(() => {
  clock = new VirtualClock(1_000_000);
  bus = new MemoryBus({ partitions: 1 });
  store = new MemoryStore();
  recorded = new RecordedSpans();
  ({ spans } = recorded);
  change = tracer(7).startTrace();
});

afterEach(async () => {
  stop.abort();
  await running.catch(() => {});
});

async function start(epoch: number, given: Partial<Settings> = {}): Promise<void> {
  stop = new AbortController();
  const ports = { bus, store, clock, random: seededRandom(1), logger: silentLogger, tracer: tracer(epoch) };
  running = new PartitionWorker({
    ...ports,
    partition: 0,
    fencingToken: epoch,
    settings: { ...settings, ...given },
  }).run(stop.signal);
  running.catch(() => {});
  await settle();
}

const settle = (ms = 0) => advance(clock, ms);

async function send(message: Message, trace?: TraceContext): Promise<void> {
  const record = { key: keyText, id: 'id', headers: traceHeaders(trace), payload: encodeMessage(message) };
  await bus.append('changes', 0, [record]);
  await settle();
}

async function published(): Promise<readonly (TraceContext | undefined)[]> {
  const reader = bus.read('mutations', 0, streamStart);
  const next = reader.next(1_000);
  await settle();
  reader.close();
  return (await next).map(({ headers }) => traceOf(headers));
}

const names = (): readonly string[] => spans.map(({ name }) => name);

test('a plan that a former owner committed but did not publish continues its trace', async () => {
  await start(1);
  const append = bus.append.bind(bus);
  bus.append = (topic, ...rest) =>
    topic === 'mutations' ? Promise.reject(new Error('the process dies')) : append(topic, ...rest);
  await send(aSnapshot(1, [service, fact.pod('p')]), change);
  await expect(running).rejects.toThrow('the process dies');
  bus.append = append;
  // Spans that were not exported are lost with the process.
  spans.length = 0;
  await start(2);
  const [trace, ...others] = await published();
  expect(others).toEqual([]);
  expect(spans).toMatchObject([
    { name: 'publish mutations', context: trace, parent: change, attributes: { 'sluice.repeated': true } },
  ]);
});

test('a redelivered plan continues its trace', async () => {
  await start(1);
  await send(aSnapshot(1, [service, fact.pod('p')]), change);
  await settle(6_000);
  const [first, again] = await published();
  expect(again).toBe(first);
  expect(names().filter((name) => name === 'publish mutations')).toHaveLength(2);
  expect(spans.at(-1)).toMatchObject({ parent: first, attributes: { 'sluice.repeated': true } });
  expect(spans.at(-1)?.context).not.toBe(first);
});

test('a batch that is not committed has no spans', async () => {
  await start(1);
  store.commit = () => Promise.reject(new FencedError('somebody else'));
  await send(aSnapshot(1, [service, fact.pod('p')]), change);
  await expect(running).rejects.toThrow('somebody else');
  expect(spans).toEqual([]);
});

test('a Change that arrives while a plan is in flight has a span before the decision', async () => {
  await start(1);
  await send(aSnapshot(1, [service, fact.pod('p')]));
  await send(aChange(2, [fact.podGone('unknown')]), change);
  expect(names()).toEqual(['process changes']);
  expect(spans[0]?.context).toBe(siblingOf(change, 'process'));
});

test('spans begin when the work begins and last as long as the store and the bus take', async () => {
  await start(1);
  const [commit, append] = [store.commit.bind(store), bus.append.bind(bus)];
  store.commit = async (one) => {
    await sleep(clock, 30);
    return commit(one);
  };
  bus.append = async (topic, ...rest) => {
    if (topic === 'mutations') await sleep(clock, 70);
    return append(topic, ...rest);
  };
  await send(aSnapshot(1, [service, fact.pod('p')]), change);
  await settle(100);
  [store.commit, bus.append] = [commit, append];
  const times = spans.map(({ name, startedAt, endedAt }) => [name, startedAt - 1_000_000, endedAt - 1_000_000]);
  expect(times).toEqual([
    ['process changes', 0, 0],
    ['decide endpointslice', 0, 0],
    ['commit', 0, 30],
    ['publish mutations', 30, 100],
  ]);
});

test('the span of a decision that fails has an error', async () => {
  const isStale = () => {
    throw new Error('cannot decide');
  };
  await start(1, { policy: { ...settings.policy, isStale } });
  await send(aSnapshot(1, [service, fact.pod('p')]), change);
  expect(names()).toEqual(['process changes', 'decide endpointslice', 'commit']);
  expect(spans[1]).toMatchObject({ error: expect.stringContaining('cannot decide') });
});

test('the span of an invalid record has an error', async () => {
  await start(1);
  const payload = new TextEncoder().encode('garbage');
  await bus.append('changes', 0, [{ key: keyText, id: 'id', headers: traceHeaders(change), payload }]);
  await settle();
  expect(spans).toMatchObject([{ name: 'process changes', error: expect.stringContaining('not JSON') }]);
});
