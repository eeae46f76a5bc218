import { expect, it } from 'vitest';
import { afterLoading, beforeLoading, forget } from './forgetful-caches.ts';

// First, because entries stay only while nothing has been forgotten.
it('a collection of a module may be made with entries', () => {
  beforeLoading();
  const key = {};
  const [map, set] = [new WeakMap([[key, 1]]), new WeakSet([key])];
  expect([new WeakMap().has(key), new WeakSet(null).has(key)]).toEqual([false, false]);
  afterLoading();
  forget();
  expect([map.get(key), set.has(key)]).toEqual([1, true]);
});

it('a weak collection of a module forgets what an earlier run put in, and keeps what loading put in', () => {
  beforeLoading();
  const [map, set] = [new WeakMap<object, number>(), new WeakSet<object>()];
  const [loaded, added] = [{}, {}];
  map.set(loaded, 1);
  set.add(loaded);
  afterLoading();

  forget();
  map.set(added, 2);
  set.add(added);
  expect([map.get(added), set.has(added)]).toEqual([2, true]);

  forget();
  expect([map.get(added), map.has(added), set.has(added)]).toEqual([undefined, false, false]);
  expect([map.get(loaded), set.has(loaded)]).toEqual([1, true]);

  map.set(added, 3);
  expect(map.get(added)).toBe(3);
  expect([map.delete(added), map.has(added), map.delete(added)]).toEqual([true, false, false]);
});

it('collections are as ever after loading', () => {
  const native = WeakMap;
  beforeLoading();
  expect(WeakMap).not.toBe(native);
  afterLoading();
  expect(WeakMap).toBe(native);
});
