import { VirtualClock } from '@sluice/runtime';
import { beforeEach, expect, test } from 'vitest';
import { SpanBuffer } from './span-buffer.ts';

let clock: VirtualClock;
let sent: number[][];
let states: string[];
let answers: PromiseWithResolvers<void>[];

beforeEach(() => {
  clock = new VirtualClock(0);
  sent = [];
  states = [];
  answers = [];
});

function buffer(answer: () => Promise<void> = () => Promise.resolve()): SpanBuffer<number> {
  return new SpanBuffer<number>({
    clock,
    capacity: 5,
    batch: 3,
    delayMs: 100,
    send: (batch) => {
      sent.push([...batch]);
      return answer();
    },
    onState: (delivers, reason) => states.push(delivers ? 'delivers' : reason),
  });
}

/** A collector that answers when it is told to. */
function slow(): Promise<void> {
  const answer = Promise.withResolvers<void>();
  answers.push(answer);
  return answer.promise;
}

const settled = () => new Promise((resolve) => setImmediate(resolve));

test('spans wait for each other a little, and a full batch for nobody', async () => {
  const spans = buffer();
  spans.add(1);
  expect(sent).toEqual([]);
  clock.step(clock.now() + 100);
  await settled();
  expect(sent).toEqual([[1]]);
  for (const span of [2, 3, 4]) spans.add(span);
  await settled();
  expect(sent).toEqual([[1], [2, 3, 4]]);
  expect(spans.counts).toEqual({ sent: 4, overflown: 0, undelivered: 0 });
});

test('what a slow collector leaves no room for is dropped and counted', async () => {
  const spans = buffer(slow);
  for (let span = 1; span <= 10; span++) spans.add(span);
  expect(sent).toEqual([[1, 2, 3]]);
  expect(spans.counts).toEqual({ sent: 0, overflown: 2, undelivered: 0 });
  for (let i = 0; i < 3; i++) {
    answers[i]?.resolve();
    await settled();
  }
  expect(sent).toEqual([
    [1, 2, 3],
    [4, 5, 6],
    [7, 8],
  ]);
  expect(spans.counts).toEqual({ sent: 8, overflown: 2, undelivered: 0 });
});

test('what a collector does not take is counted, and told once until it takes something again', async () => {
  let refuses = true;
  const spans = buffer(() => (refuses ? Promise.reject(new Error('refused')) : Promise.resolve()));
  for (const span of [1, 2]) {
    spans.add(span);
    clock.step(clock.now() + 100);
    await settled();
  }
  refuses = false;
  spans.add(3);
  clock.step(clock.now() + 100);
  await settled();
  expect(spans.counts).toEqual({ sent: 1, overflown: 0, undelivered: 2 });
  expect(states).toEqual(['refused', 'delivers']);
});

test('at the end all is delivered that can be within the limit', async () => {
  const spans = buffer();
  for (const span of [1, 2, 3, 4]) spans.add(span);
  await spans.flush(1_000);
  expect(spans.counts.sent).toBe(4);
  const stuck = buffer(slow);
  stuck.add(5);
  const over = stuck.flush(1_000);
  clock.step(clock.now() + 1_000);
  await over;
  expect(stuck.counts.sent).toBe(0);
});
