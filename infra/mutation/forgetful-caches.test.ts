import { expect, it } from 'vitest';
import { afterLoading, beforeLoading, forget } from './forgetful-caches.ts';

it('a weak collection of a module forgets what an earlier run put in, and keeps what loading put in', () => {
  beforeLoading();
  const [loaded, loadedToo, added] = [{}, {}, {}];
  const [map, set] = [new WeakMap<object, number>([[loaded, 1]]), new WeakSet<object>([loaded])];
  map.set(loadedToo, 2);
  set.add(loadedToo);
  expect([new WeakMap(null).has(loaded), new WeakSet().has(loaded)]).toEqual([false, false]);
  afterLoading();

  forget();
  map.set(added, 2);
  set.add(added);
  expect([map.get(added), set.has(added)]).toEqual([2, true]);

  forget();
  expect([map.get(added), map.has(added), set.has(added)]).toEqual([undefined, false, false]);
  expect([map.get(loaded), set.has(loaded)]).toEqual([1, true]);
  expect([map.get(loadedToo), set.has(loadedToo)]).toEqual([2, true]);

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
