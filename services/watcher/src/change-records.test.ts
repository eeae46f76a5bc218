import type { BusLimits } from '@sluice/bus';
import { type Change, decodeMessage, digestFacts } from '@sluice/messages';
import { silentLogger } from '@sluice/platform';
import { beforeEach, describe, expect, test } from 'vitest';
import { ChangeRecords, type ChangeSequence } from './change-records.ts';
import { digestService } from './compose-changes.ts';
import { addReason, type DirtyReason, emptyDirtyEntry } from './dirty-set.ts';
import { Indexer } from './indexer.ts';
import { aPod, aService, aSlice, someEndpoints } from './testing/objects.ts';

const key = { cluster: 'c', namespace: 'shop', service: 'web' };
const reached = { endpoints: '3', endpointslices: '4' };
let indexer: Indexer;
let sequence: ChangeSequence;
let limits: BusLimits;
let records: ChangeRecords;

beforeEach(() => {
  indexer = new Indexer();
  indexer.resourceVersions.set('endpoints', reached.endpoints).set('endpointslices', reached.endpointslices);
  sequence = { last: 0 };
  limits = { recordBytes: 2_000, messageBytes: 5_000 };
  records = new ChangeRecords({
    ...{ fencingToken: 7, sequence, indexer, limits: () => limits },
    ...{ traces: undefined, logger: silentLogger },
  });
  indexer.setService(aService('web'));
});

function make(reasons: readonly DirtyReason[], previous = { epoch: 7, sequence: 0 }) {
  const dirty = emptyDirtyEntry(key);
  for (const reason of reasons) addReason(dirty, reason, { description: 'x', observedAt: 1 });
  const { records: made, ...result } = records.of(dirty, previous, []);
  const bytes = made.map(({ payload }) => payload.length);
  const changes = made.map(({ payload }) => decodeMessage(payload) as Change);
  return { ...result, changes, bytes, ids: made.map(({ id }) => id), keys: made.map((record) => record.key) };
}

const snapshot: DirtyReason = { kind: 'snapshot', initial: false };

test('a Change has the next number of the watcher, and the number of what came before it in the partition', () => {
  sequence.last = 10;
  const { changes, lastStamp, ids, keys } = make([{ kind: 'service' }], { epoch: 7, sequence: 4 });
  expect(changes).toMatchObject([{ key, stamp: { epoch: 7, sequence: 11 }, previousSequence: 4 }]);
  expect(changes[0]).not.toHaveProperty('previousEpoch');
  expect([lastStamp, ids, keys]).toEqual([{ epoch: 7, sequence: 11 }, ['c/7/11'], ['c/shop/web']]);
});

test('the first Change of a watcher names the epoch of the previous one; its second part does not', () => {
  for (let i = 0; i < 20; i++) indexer.setPod(aPod(`p${i}`, { app: 'web' }));
  const { changes } = make([snapshot], { epoch: 6, sequence: 30 });
  expect(changes.length).toBeGreaterThan(1);
  expect(changes.map(({ previousEpoch }) => previousEpoch)).toEqual(changes.map((_, i) => (i === 0 ? 6 : undefined)));
  expect(changes.map(({ previousSequence }) => previousSequence)).toEqual(changes.map((_, i) => (i === 0 ? 30 : i)));
});

describe('parts of a Service', () => {
  beforeEach(() => {
    for (let i = 0; i < 20; i++) indexer.setPod(aPod(`p${i}`, { app: 'web' }));
  });

  test('all have the causes, and only the last one the resourceVersions and the digest', () => {
    const { changes } = make([snapshot, { kind: 'digest' }]);
    const isLast = changes.map((_, i) => i === changes.length - 1);
    expect(changes.map(({ causes }) => causes.first.length)).toEqual(changes.map(() => 2));
    expect(changes.map(({ resourceVersions }) => resourceVersions !== undefined)).toEqual(isLast);
    expect(changes.map(({ digest }) => digest !== undefined)).toEqual(isLast);
    expect(changes.at(-1)).toMatchObject({ resourceVersions: reached, digest: digestService(indexer, 'shop', 'web') });
  });

  test('keep the order of the facts', () => {
    const { changes } = make([snapshot]);
    const names = changes.flatMap(({ facts }) => facts.flatMap((fact) => (fact.kind === 'pod' ? [fact.name] : [])));
    expect(names).toEqual(Array.from({ length: 20 }, (_, i) => `p${i}`));
  });

  test('are one if the bus has no limits', () => {
    limits = { recordBytes: Number.POSITIVE_INFINITY, messageBytes: Number.POSITIVE_INFINITY };
    expect(make([snapshot]).changes).toHaveLength(1);
  });
});

test('a digest is there on request only, and that of nothing if nothing of the Service is left', () => {
  expect(make([{ kind: 'service' }]).changes[0]).not.toHaveProperty('digest');
  indexer.deleteService('shop', 'web');
  expect(make([{ kind: 'digest' }]).changes).toMatchObject([{ facts: [], digest: digestFacts([]) }]);
});

describe('an object that the bus does not accept', () => {
  const annotations = { a: 'x'.repeat(6_000) };

  test.each<[string, DirtyReason, () => void]>([
    ['endpoints', { kind: 'endpoints', uid: 'u' }, largeEndpoints],
    ['slice web-x', { kind: 'slice', name: 'web-x', uid: 'u', relabelled: false }, largeSlice],
    ['service', { kind: 'service' }, () => indexer.setService(aService('web', { annotations }))],
  ])('is named as %s, with its size and the limit', (name, reason, arrange) => {
    arrange();
    const { changes, isPublishable } = make([reason]);
    expect(isPublishable).toBe(false);
    expect(changes).toMatchObject([
      { facts: [], unpublishable: expect.stringMatching(`^${name} has 6\\d+ bytes.* 5000 `) },
    ]);
    expect(changes[0]).not.toHaveProperty('snapshot');
    expect(changes[0]).not.toHaveProperty('resourceVersions');
  });

  test('takes one number, however many parts were tried', () => {
    for (let i = 0; i < 20; i++) indexer.setPod(aPod(`p${i}`, { app: 'web' }));
    largeSlice();
    const { changes, lastStamp } = make([snapshot], { epoch: 7, sequence: 0 });
    expect(changes).toMatchObject([{ stamp: { sequence: 1 }, previousSequence: 0 }]);
    expect(lastStamp).toEqual({ epoch: 7, sequence: 1 });
    indexer.deleteSlice('shop', 'web-x');
    const next = make([snapshot], lastStamp);
    expect(next.isPublishable).toBe(true);
    expect(next.changes[0]?.stamp.sequence).toBe(2);
  });

  test('of exactly the limits is accepted whole', () => {
    largeEndpoints();
    limits = { recordBytes: 100_000, messageBytes: 100_000 };
    const reasons: DirtyReason[] = [{ kind: 'service' }, { kind: 'endpoints', uid: 'u' }];
    const [bytes = 0] = make(reasons).bytes;
    sequence.last = 0;
    limits = { recordBytes: bytes, messageBytes: bytes };
    expect(make(reasons).changes).toHaveLength(1);
    sequence.last = 0;
    limits = { recordBytes: bytes - 1, messageBytes: bytes };
    expect(make(reasons).changes).toHaveLength(2);
  });

  function largeEndpoints(): void {
    const { metadata } = someEndpoints('web');
    indexer.endpoints.set('shop/web', { metadata: { ...metadata, annotations }, subsets: [] });
  }

  function largeSlice(): void {
    const { metadata, ...rest } = aSlice('web-x', 'web');
    indexer.setSlice({ ...rest, metadata: { ...metadata, annotations } });
  }
});
