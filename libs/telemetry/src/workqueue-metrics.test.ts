import { beforeEach, expect, test } from 'vitest';
import { Exposition } from './prometheus/exposition.ts';
import { type WorkQueue, WorkqueueMetrics } from './workqueue-metrics.ts';

let exposition: Exposition;
let now: number;
let metrics: WorkqueueMetrics;
let queue: WorkQueue;

beforeEach(() => {
  exposition = new Exposition();
  now = 0;
  metrics = new WorkqueueMetrics(exposition);
  queue = metrics.open('endpointslice', () => now);
});

async function value(name: string): Promise<number> {
  const text = await exposition.text();
  const line = text.split('\n').find((one) => one.startsWith(`workqueue_${name}{name="endpoint_slice"}`));
  return Number(line?.split(' ')[1]);
}

test('a key counts once until it is processed, and again while it is processed (I4)', async () => {
  queue.add('a');
  queue.add('a');
  queue.start('a');
  queue.add('a');
  expect([await value('adds_total'), await value('depth')]).toEqual([2, 1]);
});

test('queue and work durations are in seconds', async () => {
  queue.add('a');
  now = 250;
  queue.start('a');
  now = 1_250;
  expect(await value('unfinished_work_seconds')).toBe(1);
  queue.done('a');
  expect(await value('queue_duration_seconds_sum')).toBe(0.25);
  expect(await value('work_duration_seconds_sum')).toBe(1);
  expect(await value('unfinished_work_seconds')).toBe(0);
});

test('partitions add up, except for the longest running processor', async () => {
  const other = metrics.open('endpointslice', () => now);
  queue.start('a');
  now = 1_000;
  other.start('b');
  other.add('c');
  now = 3_000;
  expect(await value('unfinished_work_seconds')).toBe(5);
  expect(await value('longest_running_processor_seconds')).toBe(3);
  other.close();
  expect([await value('unfinished_work_seconds'), await value('depth')]).toEqual([3, 0]);
});

test('the buckets match client-go (I4)', async () => {
  const text = await exposition.text();
  const buckets = text.matchAll(/queue_duration_seconds_bucket\{le="([^"]+)",name="endpoint"/g);
  expect([...buckets].map(([, le]) => Number(Number(le).toPrecision(3)))).toEqual([
    ...[1e-8, 1e-7, 1e-6, 1e-5, 1e-4, 1e-3, 1e-2, 0.1, 1, 10],
    Number.NaN,
  ]);
});

test('a queue is exposed before its first item', async () => {
  expect([await value('adds_total'), await value('retries_total'), await value('depth')]).toEqual([0, 0, 0]);
});
