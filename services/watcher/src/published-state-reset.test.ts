import { seededRandom, silentLogger, VirtualClock } from '@sluice/platform';
import { MemoryStore, type StoredEntry } from '@sluice/store';
import { beforeEach, describe, expect, test } from 'vitest';
import { PublishedState, publishedStateScope } from './published-state.ts';

const scope = publishedStateScope('c');
const offset = { offset: 3, id: 'r3', streamId: 'log' };
const version: StoredEntry = { key: 'scope', field: 'formatVersion', value: 1 };
let store: MemoryStore;

beforeEach(() => {
  store = new MemoryStore();
});

const claim = (fencingToken: number) =>
  PublishedState.claim({
    ...{ store, cluster: 'c', fencingToken, clock: new VirtualClock() },
    ...{ random: seededRandom(1), logger: silentLogger },
  });

/** What a watcher has stored before. */
async function stored(...entries: readonly StoredEntry[]): Promise<void> {
  await store.claim(scope, 1);
  await store.commit({ scope, fencingToken: 1, expectedOffset: 0, checkpoint: offset, entries });
}

const known: readonly StoredEntry[] = [
  { key: 'c/shop/web', field: 'digest', value: 'digest-web' },
  { key: 'c', field: 'lastStamp/7', value: { epoch: 1, sequence: 12 } },
  { key: 'c', field: 'resourceVersion/pods', value: '41' },
];

/** All that a watcher restores. */
const restored = (state: PublishedState) => ({
  services: [...state.restoredServices],
  digest: state.digest('c/shop/web'),
  stamp: state.lastStamp(7),
  version: state.resourceVersion('pods'),
  offset: state.requestOffset?.offset,
});

const everything = {
  services: ['c/shop/web'],
  digest: 'digest-web',
  stamp: { epoch: 1, sequence: 12 },
  version: '41',
  offset: 3,
};
const nothing = { services: [], digest: undefined, stamp: undefined, version: '', offset: undefined };

describe('a reset', () => {
  test('discards everything but the offset of requests, for this watcher and the next', async () => {
    await stored(version, ...known);
    const state = await claim(2);
    expect(restored(state)).toEqual(everything);
    expect(state.isResetting).toBe(false);
    const begun = state.beginReset();
    expect(restored(state)).toEqual({ ...nothing, offset: 3 });
    await begun;
    expect(restored(await claim(3))).toEqual({ ...nothing, offset: 3 });
  });

  test('is continued by the next watcher until it ends', async () => {
    await stored(version, ...known);
    const state = await claim(2);
    await state.beginReset();
    expect(state.isResetting).toBe(true);
    const next = await claim(3);
    expect(next.isResetting).toBe(true);
    await next.endReset();
    expect(next.isResetting).toBe(false);
    expect((await claim(4)).isResetting).toBe(false);
    expect(store.peek(scope).entries).toEqual([version]);
  });

  test('forgets that a Service was being published', async () => {
    await stored(version, ...known);
    const state = await claim(2);
    const publishing = state.beginPublishing(['c/shop/web']);
    await state.beginReset();
    await publishing;
    expect(
      store
        .peek(scope)
        .entries.map(({ field }) => field)
        .sort(),
    ).toEqual(['formatVersion', 'resetting']);
  });
});

describe('state of another version of Sluice', () => {
  const unreadable: readonly [string, readonly StoredEntry[]][] = [
    ['in a newer form', [{ ...version, value: 2 }, ...known]],
    ['without a version', known],
    ['with a digest that is no text', [version, ...known, { key: 'c/shop/web', field: 'digest', value: 7 }]],
    ['with a stamp without an epoch', [version, ...known, { key: 'c', field: 'lastStamp/7', value: { sequence: 1 } }]],
    [
      'with a resourceVersion that is no text',
      [version, ...known, { key: 'c', field: 'resourceVersion/pods', value: 41 }],
    ],
    ['with an unknown field', [version, ...known, { key: 'c', field: 'futureField', value: '' }]],
  ];

  test.each(unreadable)('%s is discarded; its Services are published again, or as deleted', async (_, entries) => {
    await stored(...entries);
    const state = await claim(2);
    expect(restored(state)).toEqual({ ...nothing, services: ['c/shop/web'] });
    expect(store.peek(scope).entries).toEqual(
      expect.arrayContaining([version, { key: 'c/shop/web', field: 'digest', value: '' }]),
    );
    expect(store.peek(scope).entries).toHaveLength(2);
  });

  test('restores no Service of another cluster, and nothing that is no Service', async () => {
    const digests = ['d/shop/web', 'web'].map((key) => ({ key, field: 'digest', value: 'x' }));
    await stored(...digests);
    const state = await claim(2);
    expect([...state.restoredServices]).toEqual([]);
    expect(store.peek(scope).entries).toEqual([version]);
  });

  test('that may be a reset is one', async () => {
    await stored(version, { key: 'c', field: 'resetting', value: 'since yesterday' });
    expect((await claim(2)).isResetting).toBe(true);
  });
});
