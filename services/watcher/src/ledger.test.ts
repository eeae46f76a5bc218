import { seededRandom, silentLogger, VirtualClock } from '@sluice/runtime';
import { type Commit, FencedError, MemoryStore, type ScopeState } from '@sluice/store';
import { beforeEach, describe, expect, test } from 'vitest';
import { Ledger } from './ledger.ts';

/** A store that may fail before or after it has done as it was told, and whose claims may not be intact. */
class FaultyStore extends MemoryStore {
  fails: 'before' | 'after' | undefined;
  intact = true;
  readonly commits: Commit[] = [];

  override async claim(scope: string, epoch: number): Promise<ScopeState> {
    return { ...(await super.claim(scope, epoch)), intact: this.intact };
  }

  override async commit(commit: Commit): Promise<void> {
    const { fails } = this;
    this.fails = undefined;
    if (fails === 'before') throw new Error('no connection');
    await super.commit(commit);
    this.commits.push(commit);
    if (fails === 'after') throw new Error('no answer');
  }
}

const cursor = { offset: 3, id: 'r3', streamId: 'log' };
let store: FaultyStore;
let clock: VirtualClock;

beforeEach(() => {
  store = new FaultyStore();
  clock = new VirtualClock();
});

const claim = (epoch: number) =>
  Ledger.claim({ store, cluster: 'c', epoch, clock, random: seededRandom(1), logger: silentLogger });

async function settled(epoch = 1): Promise<Ledger> {
  const ledger = await claim(epoch);
  await ledger.answered(cursor, []);
  await ledger.begin(['a', 'b']);
  await ledger.settle(
    new Map([
      ['a', 'digest-a'],
      ['b', 'digest-b'],
    ]),
    new Map([[7, { epoch, sequence: 12 }]]),
  );
  await ledger.reached(new Map([['pods', '41']]));
  return ledger;
}

/** Lets retries happen, which wait on the clock. */
async function settle<T>(promise: Promise<T>): Promise<T> {
  let over = false;
  const done = promise.finally(() => {
    over = true;
  });
  done.catch(() => {});
  while (!over) {
    await new Promise((resolve) => setImmediate(resolve));
    clock.step();
  }
  return done;
}

describe('the next watcher', () => {
  test('finds the digests, the last Changes, how far requests were answered, and versions', async () => {
    await settled();
    const next = await claim(2);
    expect([...next.remembered]).toEqual(['a', 'b']);
    expect([next.digest('a'), next.digest('b'), next.digest('c')]).toEqual(['digest-a', 'digest-b', undefined]);
    expect([next.last(7), next.last(8)]).toEqual([{ epoch: 1, sequence: 12 }, undefined]);
    expect(next.requests).toEqual(cursor);
    expect([next.version('pods'), next.version('nodes')]).toEqual(['41', '']);
  });

  test('finds none of a Service that was being told of', async () => {
    const ledger = await settled();
    await ledger.begin(['a']);
    const next = await claim(2);
    expect([next.digest('a'), next.digest('b')]).toEqual([undefined, 'digest-b']);
    expect(next.remembered.has('a')).toBe(true);
  });

  test('finds none of a Service that was asked for, whether or not it was told', async () => {
    const ledger = await settled();
    await ledger.answered({ ...cursor, offset: 4 }, ['b']);
    const next = await claim(2);
    expect([next.requests?.offset, next.digest('b')]).toEqual([4, undefined]);
  });

  test('forgets a Service of which nothing is left', async () => {
    const ledger = await settled();
    await ledger.begin(['a']);
    await ledger.settle(new Map([['a', undefined]]), new Map());
    expect([...(await claim(2)).remembered]).toEqual(['b']);
  });

  test('trusts nothing that is not known to be whole, nor does the one after it', async () => {
    await settled();
    store.intact = false;
    const next = await claim(2);
    expect([next.requests, next.digest('a')]).toEqual([undefined, undefined]);
    expect([...next.remembered]).toEqual(['a', 'b']);
    store.intact = true;
    expect((await claim(3)).digest('a')).toBeUndefined();
  });
});

describe('before something is told', () => {
  test('the store knows it', async () => {
    const ledger = await settled();
    const began = ledger.begin(['a']);
    expect(began).toBeInstanceOf(Promise);
    await began;
    expect(store.commits.at(-1)?.entries).toEqual([{ key: 'a', field: 'told', value: '' }]);
  });

  test('nothing is written of what the store knows already', async () => {
    const ledger = await settled();
    await ledger.begin(['a']);
    expect(ledger.begin(['a'])).toBeUndefined();
  });

  test('one that another is about to note is waited for', async () => {
    const ledger = await settled();
    const first = ledger.begin(['a']);
    const second = ledger.begin(['a']);
    expect(second).toBeInstanceOf(Promise);
    await Promise.all([first, second]);
  });

  test('a digest that is on its way to the store is taken out again', async () => {
    const ledger = await settled();
    await ledger.begin(['a']);
    const settling = ledger.settle(new Map([['a', 'newer']]), new Map());
    await Promise.resolve();
    await Promise.resolve();
    await ledger.begin(['a']);
    await settling;
    expect((await claim(2)).digest('a')).toBeUndefined();
  });

  test('those who come at once share a commit', async () => {
    const ledger = await settled();
    store.commits.length = 0;
    await Promise.all(['d', 'e', 'f', 'g'].map((service) => ledger.begin([service])));
    expect(store.commits.length).toBeLessThanOrEqual(2);
  });
});

describe('a watcher that was replaced', () => {
  test('is refused before it tells of anything that was settled', async () => {
    const ledger = await settled();
    await claim(2);
    await expect(settle(Promise.resolve(ledger.begin(['a'])))).rejects.toThrow(FencedError);
    expect(ledger.over.aborted).toBe(true);
  });
});

describe.each(['before', 'after'] as const)('a commit that fails %s it was carried out', (when) => {
  test('is tried again, and what the store may have is not trusted', async () => {
    const ledger = await settled();
    store.fails = when;
    await settle(Promise.resolve(ledger.begin(['c'])));
    const next = await claim(2);
    expect([next.digest('a'), next.digest('b'), next.digest('c')]).toEqual([undefined, undefined, undefined]);
    expect([...next.remembered].sort()).toEqual(['a', 'b', 'c']);
  });
});

describe('a watcher that has ended', () => {
  test('does not wait for a store that is away', async () => {
    const ledger = await settled();
    store.commit = () => Promise.reject(new Error('no connection'));
    const begun = Promise.resolve(ledger.begin(['c']));
    begun.catch(() => {});
    for (let i = 0; i < 5; i++) {
      await new Promise((resolve) => setImmediate(resolve));
      clock.step();
    }
    ledger.close();
    await expect(begun).rejects.toMatchObject({ code: 'BUS_CLOSED' });
    expect(clock.step(), 'nothing is tried again').toBe(false);
  });
});
