import { expect, test } from 'vitest';
import { VirtualClock } from './clock.ts';
import { recordingLogger } from './testing/index.ts';
import { ThreadShares, YieldQueue } from './thread-shares.ts';

function given() {
  const clock = new VirtualClock(0);
  const logger = recordingLogger();
  const deferred: (() => void)[] = [];
  const yieldQueue = new YieldQueue((callback) => deferred.push(callback));
  const shares = new ThreadShares({ clock, logger, yieldQueue });
  const work = (cluster: string, ms: number) => {
    clock.skipTo(clock.now() + ms);
    return shares.of(cluster).spend(ms);
  };
  /** Works in pieces of 5 ms, for as long as the shares permit, until `untilMs`. Returns the work in milliseconds. */
  const flood = async (cluster: string, untilMs: number, meanwhile = () => {}) => {
    let worked = 0;
    while (clock.now() < untilMs) {
      const turn = work(cluster, 5);
      worked += 5;
      meanwhile();
      let isWaiting = turn !== undefined;
      void turn?.then(() => (isWaiting = false));
      while (isWaiting) {
        if (deferred.length > 0) deferred.shift()?.();
        else clock.step();
        await new Promise((resolve) => setImmediate(resolve));
      }
    }
    return worked;
  };
  return { clock, logger, deferred, shares, work, flood };
}

test('one cluster alone uses all of the thread, and the event loop runs after every 8 ms', async () => {
  const { clock, work, flood, deferred, shares, logger } = given();
  expect(await flood('a', 10_000)).toBe(10_000);
  expect(shares.uses.get('a')).toMatchObject({ usedMs: 10_000, waitedMs: 0 });
  expect(logger.lines).toEqual([]);
  expect(clock.nextAt()).toBeUndefined();
  expect(work('a', 5)).toBeUndefined();
  expect(work('a', 5)).toBeInstanceOf(Promise);
  expect(deferred).toHaveLength(1);
});

test('a cluster gets half of the thread while another has work, and that one does not wait', async () => {
  const { work, flood, shares } = given();
  await flood('hog', 10_000);
  const worked = await flood('hog', 20_000, () => void work('calm', 0));
  expect(worked).toBeGreaterThan(4_900);
  // With the rest of the burst.
  expect(worked).toBeLessThan(5_600);
  expect(shares.uses.get('hog')?.waitedMs).toBeGreaterThan(4_300);
  expect(shares.uses.get('calm')?.waitedMs).toBe(0);
});

test('a cluster that has used all of the thread for long waits at once for one that comes, and not after its end', async () => {
  const { work, flood, clock } = given();
  await flood('hog', 10_000);
  await work('calm', 1);
  expect(await flood('hog', clock.now() + 240)).toBeLessThan(150);
  await flood('hog', clock.now() + 250);
  expect(await flood('hog', clock.now() + 1_000)).toBe(1_000);
});

test('a reader that asks for nothing does not use the thread', () => {
  const { work, shares } = given();
  void work('a', 600_000);
  expect(shares.uses.get('a')?.usedMs).toBe(50);
});

test('the log names a cluster whose events wait, once in a minute', async () => {
  const { work, flood, logger, shares } = given();
  await flood('hog', 11_000, () => void work('calm', 0));
  const message = 'cluster exceeds its share of the event loop; its events wait';
  expect(logger.lines).toEqual([{ level: 'warn', message, fields: { cluster: 'hog', waited: '5s' } }]);
  await flood('hog', 60_000, () => void work('calm', 0));
  expect(logger.lines).toHaveLength(1);
  await flood('hog', 75_000, () => void work('calm', 0));
  expect(logger.lines).toHaveLength(2);
  shares.forget('hog');
  expect([...shares.uses.keys()]).toEqual(['calm']);
});

test('one caller resumes per deferred callback, in the order of the calls', async () => {
  const deferred: (() => void)[] = [];
  const queue = new YieldQueue((callback) => deferred.push(callback));
  const resumed: string[] = [];
  const task = async (name: string) => {
    for (const step of [1, 2]) {
      await queue.next();
      resumed.push(`${name}${step}`);
    }
  };
  const all = Promise.all([task('a'), task('b')]);
  const rounds: string[][] = [];
  while (deferred.length > 0) {
    expect(deferred).toHaveLength(1);
    deferred.shift()?.();
    await new Promise((resolve) => setImmediate(resolve));
    rounds.push(resumed.splice(0));
  }
  await all;
  expect(rounds).toEqual([['a1'], ['b1'], ['a2'], ['b2']]);
});
