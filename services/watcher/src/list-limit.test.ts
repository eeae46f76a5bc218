import { VirtualClock } from '@sluice/runtime';
import { advance } from '@sluice/runtime/testing';
import { beforeEach, expect, test } from 'vitest';
import { ListLimit } from './list-limit.ts';

let clock: VirtualClock;
let limit: ListLimit;
let begun: string[];
let ends: Map<string, () => void>;

beforeEach(() => {
  clock = new VirtualClock(0);
  limit = new ListLimit(clock, 2);
  [begun, ends] = [[], new Map()];
});

async function list(names: string, signal = new AbortController().signal): Promise<void> {
  for (const name of names) {
    void limit.acquire(signal).then((end) => {
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

test('lists begin in order, as many at once as may', async () => {
  await list('abcd');
  expect(begun).toEqual(['a', 'b']);
  await end('b');
  expect(begun).toEqual(['a', 'b', 'c']);
  await end('a', 'c');
  await list('ef');
  expect(begun).toEqual(['a', 'b', 'c', 'd', 'e']);
});

test('an end that is reported twice counts once', async () => {
  await list('abcde');
  await end('a', 'a');
  expect(begun).toEqual(['a', 'b', 'c']);
});

test('slow lists let others begin, and their end lets no more begin', async () => {
  await list('abcdef');
  await advance(clock, 2_000);
  expect(begun).toEqual(['a', 'b', 'c', 'd']);
  await end('a', 'b');
  expect(begun).toEqual(['a', 'b', 'c', 'd']);
});

test('who is stopped takes no turn, and passes on one that it has got', async () => {
  const stop = new AbortController();
  await list('a');
  await list('b', stop.signal);
  await list('cd', stop.signal);
  await list('e');
  stop.abort();
  await list('f', stop.signal);
  await end('b');
  expect(begun).toEqual(['a', 'b', 'e']);
});
