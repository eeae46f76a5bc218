import { beforeEach, expect, test } from 'vitest';
import { VirtualClock } from './clock.ts';
import { type Permit, Semaphore } from './semaphore.ts';
import { advance } from './testing/index.ts';

let clock: VirtualClock;
let semaphore: Semaphore;
let begun: string[];
let permits: Map<string, Permit>;

beforeEach(() => {
  clock = new VirtualClock(0);
  semaphore = new Semaphore({ clock, permits: 2, maxIdleMs: 2_000, maxHoldMs: 5_000 });
  [begun, permits] = [[], new Map()];
});

async function begin(names: string, signal = new AbortController().signal): Promise<void> {
  for (const name of names) {
    void semaphore.acquire(signal).then((permit) => {
      if (signal.aborted) return permit.release();
      begun.push(name);
      permits.set(name, permit);
    });
  }
  await advance(clock, 0);
}

async function end(...names: readonly string[]): Promise<void> {
  for (const name of names) permits.get(name)?.release();
  await advance(clock, 0);
}

test('tasks begin in order, as many at once as there are permits', async () => {
  await begin('abcd');
  expect(begun).toEqual(['a', 'b']);
  await end('b');
  expect(begun).toEqual(['a', 'b', 'c']);
  await end('a', 'c');
  await begin('ef');
  expect(begun).toEqual(['a', 'b', 'c', 'd', 'e']);
});

test('an end that is reported twice counts once', async () => {
  await begin('abcde');
  await end('a', 'a');
  expect(begun).toEqual(['a', 'b', 'c']);
});

test('slow tasks let others begin, and their end lets no more begin', async () => {
  await begin('abcdef');
  await advance(clock, 2_000);
  expect(begun).toEqual(['a', 'b', 'c', 'd']);
  await end('a', 'b');
  expect(begun).toEqual(['a', 'b', 'c', 'd']);
});

test('who is stopped takes no turn, and passes on one that it has got', async () => {
  const stop = new AbortController();
  await begin('a');
  await begin('b', stop.signal);
  await begin('cd', stop.signal);
  await begin('e');
  stop.abort();
  await begin('f', stop.signal);
  await end('b');
  expect(begun).toEqual(['a', 'b', 'e']);
});

test('a task that makes progress keeps its permit for longer, but not forever', async () => {
  await begin('abc');
  await advance(clock, 1_500);
  permits.get('a')?.renew();
  await advance(clock, 1_500);
  expect(begun).toEqual(['a', 'b', 'c']);
  await begin('d');
  await advance(clock, 400);
  expect(begun).toEqual(['a', 'b', 'c']);
  for (let ms = 0; ms < 1_600; ms += 400) {
    for (const name of 'ac') permits.get(name)?.renew();
    await advance(clock, 400);
  }
  expect(begun).toEqual(['a', 'b', 'c', 'd']);
});
