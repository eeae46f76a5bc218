import { beforeEach, expect, test } from 'vitest';
import { FixedLimit } from './fixed-limit.ts';

let limit: FixedLimit;
let stop: AbortController;
let started: string[];
let finish: Map<string, () => void>;

beforeEach(() => {
  limit = new FixedLimit(2);
  stop = new AbortController();
  started = [];
  finish = new Map();
});

function run(name: string, priority = 0): Promise<void> {
  return limit.run(
    priority,
    () =>
      new Promise((resolve) => {
        started.push(name);
        finish.set(name, resolve);
      }),
    stop.signal,
  );
}

const settle = () => new Promise((resolve) => setImmediate(resolve));

test('at most so many requests run, the lowest priority value first', async () => {
  void run('a');
  void run('b');
  void run('c', 2);
  void run('d', 1);
  await settle();
  expect(started).toEqual(['a', 'b']);
  finish.get('a')?.();
  // The slot is passed on: a request that comes now waits.
  await Promise.resolve();
  void run('e', 0);
  await settle();
  expect(started).toEqual(['a', 'b', 'd']);
  finish.get('b')?.();
  finish.get('d')?.();
  await settle();
  expect(started).toEqual(['a', 'b', 'd', 'e', 'c']);
});

test('a failed request frees its slot', async () => {
  for (let i = 0; i < 3; i++) {
    await expect(limit.run(0, () => Promise.reject(new Error('refused')), stop.signal)).rejects.toThrow('refused');
  }
});

test('an abort lets waiting requests fail with their own reason, and takes no slot', async () => {
  void run('a');
  void run('b');
  const waiting = limit.run(0, () => Promise.reject(new Error('stopped')), stop.signal);
  stop.abort();
  await expect(waiting).rejects.toThrow('stopped');
  void run('c');
  await settle();
  expect(started).toEqual(['a', 'b', 'c']);
});
