import type { Resource } from '@sluice/kubernetes';
import { seededRandom, silentLogger, VirtualClock } from '@sluice/platform';
import { FencedError } from '@sluice/store';
import { beforeEach, describe, expect, test } from 'vitest';
import { PublishedState } from './published-state.ts';
import { FaultyStore } from './testing/faulty-store.ts';

const offset = { offset: 3, id: 'r3', streamId: 'log' };
let store: FaultyStore;
let clock: VirtualClock;

beforeEach(() => {
  store = new FaultyStore();
  clock = new VirtualClock();
});

const claim = (fencingToken: number) =>
  PublishedState.claim({ store, cluster: 'c', fencingToken, clock, random: seededRandom(1), logger: silentLogger });

async function quiescent(epoch = 1): Promise<PublishedState> {
  const state = await claim(epoch);
  await state.commitRequestOffset(offset, []);
  await state.beginPublishing(['a', 'b']);
  await state.commitDigests(
    new Map([
      ['a', 'digest-a'],
      ['b', 'digest-b'],
    ]),
    new Map([[7, { epoch, sequence: 12 }]]),
  );
  await state.commitResourceVersions(new Map([['pods', '41']]));
  return state;
}

/** Advances the clock, on which retries wait, until the promise settles. Ends with the test, whose clock the next one replaces. */
async function advanceUntil<T>(promise: Promise<T>): Promise<T> {
  const own = clock;
  let isSettled = false;
  const done = promise.finally(() => {
    isSettled = true;
  });
  done.catch(() => {});
  while (!isSettled && clock === own) {
    await new Promise((resolve) => setImmediate(resolve));
    own.step();
  }
  return done;
}

async function step(times: number): Promise<void> {
  for (let i = 0; i < times; i++) {
    await new Promise((resolve) => setImmediate(resolve));
    clock.step();
  }
}

describe('the next watcher', () => {
  test('publishes every Service if it watches other resources', async () => {
    await quiescent();
    const claimWatching = (fencingToken: number, ...resources: readonly Resource[]) =>
      PublishedState.claim({
        ...{ store, cluster: 'c', fencingToken, clock, random: seededRandom(1), logger: silentLogger },
        reader: { resources: new Set(resources) },
      });
    const slicesOnly = await claimWatching(2, 'services', 'pods', 'endpointslices');
    expect([slicesOnly.digest('a'), [...slicesOnly.restoredServices]]).toEqual([undefined, ['a', 'b']]);
    await slicesOnly.commitDigests(new Map([['a', 'digest-a']]), new Map());
    expect((await claimWatching(3, 'endpointslices', 'services', 'pods')).digest('a')).toBe('digest-a');
    const all = await claim(4);
    expect(all.digest('a')).toBe(undefined);
    await all.commitDigests(new Map([['a', 'digest-a']]), new Map());
    expect((await claim(5)).digest('a')).toBe('digest-a');
  });

  test('restores digests, last stamps, the request offset and resourceVersions', async () => {
    await quiescent();
    const next = await claim(2);
    expect([...next.restoredServices]).toEqual(['a', 'b']);
    expect([next.digest('a'), next.digest('b'), next.digest('c')]).toEqual(['digest-a', 'digest-b', undefined]);
    expect([next.lastStamp(7), next.lastStamp(8)]).toEqual([{ epoch: 1, sequence: 12 }, undefined]);
    expect(next.requestOffset).toEqual(offset);
    expect([next.resourceVersion('pods'), next.resourceVersion('nodes')]).toEqual(['41', '']);
  });

  test('finds no digest of a Service that was being published', async () => {
    const state = await quiescent();
    await state.beginPublishing(['a']);
    const next = await claim(2);
    expect([next.digest('a'), next.digest('b')]).toEqual([undefined, 'digest-b']);
    expect(next.restoredServices.has('a')).toBe(true);
  });

  test('finds no digest of a Service whose resync was requested, published or not', async () => {
    const state = await quiescent();
    await state.commitRequestOffset({ ...offset, offset: 4 }, ['b']);
    const next = await claim(2);
    expect([next.requestOffset?.offset, next.digest('b')]).toEqual([4, undefined]);
  });

  test('does not restore a Service of which nothing is left, even if a later commit fails', async () => {
    const state = await quiescent();
    await state.commitDigests(new Map([['a', undefined]]), new Map());
    store.fails = 'before';
    await advanceUntil(Promise.resolve(state.beginPublishing(['c'])));
    expect([...(await claim(2)).restoredServices].sort()).toEqual(['b', 'c']);
  });

  test('does not restore a Service of which nothing is left', async () => {
    const state = await quiescent();
    await state.beginPublishing(['a']);
    await state.commitDigests(new Map([['a', undefined]]), new Map());
    expect([...(await claim(2)).restoredServices]).toEqual(['b']);
  });

  test('trusts no digest if the store may have lost data, and neither does the watcher after it', async () => {
    await quiescent();
    store.intact = false;
    const next = await claim(2);
    expect([next.requestOffset, next.digest('a')]).toEqual([undefined, undefined]);
    expect([...next.restoredServices]).toEqual(['a', 'b']);
    store.intact = true;
    expect((await claim(3)).digest('a')).toBeUndefined();
  });
});

describe('before a Service is published', () => {
  test('its digest is removed from the store', async () => {
    const state = await quiescent();
    const started = state.beginPublishing(['a']);
    expect(started).toBeInstanceOf(Promise);
    await started;
    expect(store.commits.at(-1)?.entries).toEqual([{ key: 'a', field: 'digest', value: '' }]);
  });

  test('nothing is written if the store has no digest of it', async () => {
    const state = await quiescent();
    await state.beginPublishing(['a']);
    expect(state.beginPublishing(['a'])).toBeUndefined();
  });

  test('a removal already in progress is awaited', async () => {
    const state = await quiescent();
    const first = state.beginPublishing(['a']);
    const second = state.beginPublishing(['a']);
    expect(second).toBeInstanceOf(Promise);
    await Promise.all([first, second]);
  });

  test('a digest whose commit is in flight is removed again', async () => {
    const state = await quiescent();
    await state.beginPublishing(['a']);
    const committing = state.commitDigests(new Map([['a', 'newer']]), new Map());
    await Promise.resolve();
    await Promise.resolve();
    await state.beginPublishing(['a']);
    await committing;
    expect((await claim(2)).digest('a')).toBeUndefined();
  });

  test('the digests of several are removed if the store has one of them', async () => {
    const state = await quiescent();
    await state.beginPublishing(['a']);
    expect(state.beginPublishing(['a', 'b'])).toBeInstanceOf(Promise);
  });

  test('a removal is awaited that a failed commit has made necessary', async () => {
    const state = await quiescent();
    const answered = Promise.withResolvers<void>();
    const commit = store.commit.bind(store);
    let commits = 0;
    store.commit = async (entries) => {
      if (commits++ === 0) throw new Error('no answer');
      await answered.promise;
      return commit(entries);
    };
    const started = state.beginPublishing(['c']);
    await step(5);
    const other = state.beginPublishing(['b']);
    expect(other).toBeInstanceOf(Promise);
    answered.resolve();
    await Promise.all([started, other]);
  });

  test('concurrent calls share a commit', async () => {
    const state = await quiescent();
    store.commits.length = 0;
    await Promise.all(['d', 'e', 'f', 'g'].map((service) => state.beginPublishing([service])));
    expect(store.commits.length).toBeLessThanOrEqual(2);
  });
});

describe('a fenced watcher', () => {
  test('fails before it publishes a Service with a stored digest', async () => {
    const state = await quiescent();
    await claim(2);
    await expect(advanceUntil(Promise.resolve(state.beginPublishing(['a'])))).rejects.toThrow(FencedError);
    expect(state.fenced.aborted).toBe(true);
  });

  test('says so as the reason of what it aborts', async () => {
    const state = await quiescent();
    expect(state.fenced.aborted).toBe(false);
    await claim(2);
    await advanceUntil(Promise.resolve(state.beginPublishing(['a']))).catch(() => {});
    expect(state.fenced.reason).toBeInstanceOf(FencedError);
  });
});

describe('the store', () => {
  test('gets no commit without changes', async () => {
    const state = await claim(1);
    expect(state.requestOffset).toBeUndefined();
    await state.commitDigests(new Map(), new Map());
    expect(store.commits).toEqual([]);
    await state.commitResourceVersions(new Map([['pods', '41']]));
    store.commits.length = 0;
    expect(state.commitResourceVersions(new Map([['pods', '41']]))).toBeUndefined();
    expect(store.commits).toEqual([]);
  });

  test('gets only what changed, and the offset with it', async () => {
    const state = await quiescent();
    store.commits.length = 0;
    await state.commitResourceVersions(
      new Map([
        ['pods', '41'],
        ['nodes', '50'],
      ]),
    );
    expect(store.commits).toEqual([
      expect.objectContaining({
        checkpoint: offset,
        entries: [{ key: 'c', field: 'resourceVersion/nodes', value: '50' }],
      }),
    ]);
  });

  test('gets the last of several changes that wait for a commit', async () => {
    const state = await claim(1);
    await Promise.all([
      state.commitRequestOffset(offset, []),
      state.commitDigests(new Map([['a', 'older']]), new Map()),
      state.commitDigests(new Map([['a', 'newer']]), new Map()),
    ]);
    expect((await claim(2)).digest('a')).toBe('newer');
  });

  test('may be away for long', async () => {
    const state = await quiescent();
    const { claim: claimScope, commit } = store;
    store.claim = () => Promise.reject(new Error('no connection'));
    store.commit = () => Promise.reject(new Error('no connection'));
    let isCommitted = false;
    const committed = state.commitDigests(new Map([['a', 'newer']]), new Map()).then(() => {
      isCommitted = true;
    });
    await step(20);
    expect([isCommitted, state.fenced.aborted]).toEqual([false, false]);
    Object.assign(store, { claim: claimScope, commit });
    await advanceUntil(committed);
    expect([isCommitted, state.fenced.aborted]).toEqual([true, false]);
    expect([...(await claim(2)).restoredServices]).toEqual(['a', 'b']);
  });
});

describe.each(['before', 'after'] as const)('a commit that fails %s it is applied', (when) => {
  test('is retried, and stored digests are not trusted', async () => {
    const state = await quiescent();
    store.fails = when;
    await advanceUntil(Promise.resolve(state.beginPublishing(['c'])));
    const next = await claim(2);
    expect([next.digest('a'), next.digest('b'), next.digest('c')]).toEqual([undefined, undefined, undefined]);
    expect([...next.restoredServices].sort()).toEqual(['a', 'b', 'c']);
  });
});

describe('a stopped watcher', () => {
  test('does not wait for an unavailable store', async () => {
    const state = await quiescent();
    store.commit = () => Promise.reject(new Error('no connection'));
    const started = Promise.resolve(state.beginPublishing(['c']));
    started.catch(() => {});
    await step(5);
    state.close();
    await expect(started).rejects.toMatchObject({ code: 'BUS_CLOSED' });
    expect(clock.step(), 'no retry is scheduled').toBe(false);
  });
});
