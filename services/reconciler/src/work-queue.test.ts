import { Metrics } from '@sluice/telemetry';
import { parseScrape, sampleOf } from '@sluice/telemetry/testing';
import { beforeEach, expect, test } from 'vitest';
import { WorkQueue } from './work-queue.ts';

let now: number;
let metrics: Metrics;
let queue: WorkQueue;

beforeEach(() => {
  now = 0;
  metrics = new Metrics({ clusters: new Map(), process: false });
  queue = new WorkQueue(metrics, 'endpointslice', () => now);
});

const value = async (name: string, queueName = 'endpoint_slice'): Promise<number> =>
  sampleOf(parseScrape(await metrics.text()), `workqueue_${name}`, { name: queueName });

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
  const other = new WorkQueue(metrics, 'endpointslice', () => now);
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

test.each([
  ['endpoints', 'endpoint'],
  ['endpointslice', 'endpoint_slice'],
  ['endpointslicemirroring', 'endpoint_slice_mirroring'],
] as const)('the queue of %s is called %s (I4)', async (controller, name) => {
  new WorkQueue(metrics, controller, () => now).retry();
  expect(await value('retries_total', name)).toBe(1);
});

test('a queue is exposed before its first item', async () => {
  const text = await metrics.text();
  for (const name of ['endpoint', 'endpoint_slice', 'endpoint_slice_mirroring']) {
    for (const metric of ['adds_total', 'retries_total', 'depth', 'unfinished_work_seconds'])
      expect(text).toContain(`workqueue_${metric}{name="${name}"} 0\n`);
    expect(text).toContain(`workqueue_queue_duration_seconds_count{name="${name}"} 0\n`);
  }
});
