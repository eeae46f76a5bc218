import { seededRandom } from '@sluice/platform';
import { expect, it } from 'vitest';
import { PodPool } from './pod-pool.ts';
import { benchPods } from './shape.ts';

const pods = benchPods({ services: 2, pods: 2 });
const names = (pool: PodPool, count: number) => Array.from({ length: count }, () => pool.take().pod.name);

it('returns each Pod once, then the one with the oldest pending flip', () => {
  const pool = new PodPool(pods, seededRandom(1));
  const taken = names(pool, 4);
  expect(new Set(taken).size).toBe(4);
  expect(names(pool, 2)).toEqual(taken.slice(0, 2));
});

it('returns a released Pod again, with the opposite readiness', () => {
  const pool = new PodPool(pods.slice(0, 1), seededRandom(1));
  expect(pool.take().ready).toBe(false);
  pool.release('service-0-0');
  expect(pool.take().ready).toBe(true);
  pool.release('service-0-0');
  expect(pool.take().ready).toBe(false);
});

it('is deterministic for a seed', () => {
  const choose = (seed: number) => names(new PodPool(benchPods({ services: 10, pods: 10 }), seededRandom(seed)), 20);
  expect(choose(7)).toEqual(choose(7));
  expect(choose(7)).not.toEqual(choose(8));
});

it('starts with the readiness of a previous pool', () => {
  const before = new PodPool(pods, seededRandom(1));
  const flipped = names(before, 2);
  expect([...before.notReady].sort()).toEqual(flipped.sort());
  const after = new PodPool(pods, seededRandom(2), before.notReady);
  const taken = Array.from({ length: 4 }, () => after.take());
  for (const { pod, ready } of taken) expect(ready).toBe(flipped.includes(pod.name));
});
