import { beforeEach, expect, test } from 'vitest';
import { ChunkQueue } from './chunk-queue.ts';

let calls: string[];
let queue: ChunkQueue;

beforeEach(() => {
  calls = [];
  queue = new ChunkQueue({
    pause: () => calls.push('pause'),
    resume: () => calls.push('resume'),
    abort: () => calls.push('abort'),
  });
});

const bytes = (n: number) => Buffer.alloc(n);

test('gives chunks in their order, whether the consumer or the chunk comes first', async () => {
  const first = queue.next();
  for (const text of ['a', 'b', 'c']) queue.push(Buffer.from(text));
  queue.complete();
  const texts = [(await first).value?.toString()];
  for await (const chunk of queue) texts.push(chunk.toString());
  expect(texts).toEqual(['a', 'b', 'c']);
  expect(await queue.next()).toEqual({ value: undefined, done: true });
});

test('ends the wait of its consumer when the response is complete', async () => {
  const next = queue.next();
  queue.complete();
  expect((await next).done).toBe(true);
  expect(calls).toEqual([]);
});

test('pauses at 64 KiB that are not consumed, and resumes below', async () => {
  queue.push(bytes(64 * 1024 - 1));
  expect(calls).toEqual([]);
  queue.push(bytes(1));
  queue.push(bytes(1));
  expect(calls).toEqual(['pause', 'pause']);
  await queue.next();
  expect(calls).toEqual(['pause', 'pause', 'resume']);
});

test('stays paused while 64 KiB are not consumed', async () => {
  queue.push(bytes(1));
  queue.push(bytes(64 * 1024));
  await queue.next();
  expect(calls).toEqual(['pause']);
  await queue.next();
  expect(calls).toEqual(['pause', 'resume']);
});

test('fails after what has arrived is consumed', async () => {
  queue.push(bytes(1));
  queue.fail(new Error('reset'));
  queue.fail(new Error('closed'));
  queue.push(bytes(2));
  expect((await queue.next()).value).toHaveLength(1);
  await expect(queue.next()).rejects.toThrow('reset');
});

test('fails the consumer that waits', async () => {
  const next = queue.next();
  queue.fail(new Error('reset'));
  await expect(next).rejects.toThrow('reset');
});

test.each([
  ['incomplete', [], ['abort']],
  ['complete', [() => queue.complete()], []],
  ['broken', [() => queue.fail(new Error('reset'))], []],
])('closes the connection when its consumer stops reading a response that is %s', async (_, events, expected) => {
  queue.push(bytes(1));
  for (const happens of events) happens();
  await queue.return();
  await queue.return();
  expect(calls).toEqual(expected);
});
