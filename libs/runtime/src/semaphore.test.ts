import { beforeEach, expect, test } from 'vitest';
import { Semaphore } from './semaphore.ts';
import { advance } from './testing/index.ts';
import { VirtualClock } from './virtual-clock.ts';

let clock: VirtualClock;
let semaphore: Semaphore;
let begun: string[];
let ends: Map<string, () => void>;

beforeEach(() => {
  clock = new VirtualClock(0);
  semaphore = new Semaphore({ clock, permits: 2, maxHoldMs: 2_000 });
  [begun, ends] = [[], new Map()];
});

async function begin(names: string, signal = new AbortController().signal): Promise<void> {
  for (const name of names) {
    void semaphore.acquire(signal).then((end) => {
      if (signal.aborted) return end();
      begun.push(name);
      ends.set(name, end);
    });
  }
  await advance(clock, 0);
}

async function end(...names: readonly string[]): Promise<void> {
  for (const name of names) ends.get(name)?.();
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
