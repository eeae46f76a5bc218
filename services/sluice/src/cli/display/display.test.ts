import { describe, expect, test } from 'vitest';
import { Statistics } from './display.ts';
import { anApplied } from './testing/applied.ts';

function after(latencies: readonly number[]): Statistics {
  const statistics = new Statistics();
  for (const latencyMs of latencies) statistics.add(anApplied({ latencyMs }));
  return statistics;
}

describe('percentiles', () => {
  test('are undefined without a plan', () => {
    expect(new Statistics().latencies).toBeUndefined();
  });

  test.each<[readonly number[], object]>([
    [[7], { p50: 7, p99: 7, max: 7 }],
    [[9, 1], { p50: 1, p99: 9, max: 9 }],
    [[10, 9, 100], { p50: 10, p99: 100, max: 100 }],
    [Array.from({ length: 100 }, (_, i) => 100 - i), { p50: 50, p99: 99, max: 100 }],
    [Array.from({ length: 1_000 }, (_, i) => i + 1), { p50: 500, p99: 990, max: 1_000 }],
  ])('use nearest rank: %j', (latencies, expected) => {
    expect(after(latencies).latencies).toEqual(expected);
  });

  test('of a long run cover the latest 100,000 plans', () => {
    const applied = anApplied({ latencyMs: 1_000 });
    const statistics = new Statistics();
    for (let i = 0; i < 50_000; i++) statistics.add(applied);
    for (let i = 0; i < 100_000; i++) statistics.add({ ...applied, latencyMs: 1 });
    expect(statistics.latencies).toEqual({ p50: 1, p99: 1, max: 1 });
    expect(statistics.plans).toBe(150_000);
  });
});

test('writes, failures, retries, causes and Services are counted', () => {
  const statistics = new Statistics();
  statistics.add(anApplied({ slices: ['a', 'b'], causes: ['x', 'y'], more: 3 }));
  statistics.add(anApplied({ service: 'db', status: 'conflict', retries: 2 }));
  statistics.add(anApplied({ status: 'namespaceTerminating', slices: [] }));
  const { plans, failures, conflicts, refusals, retries, causes, services, writes } = statistics;
  expect({ plans, failures, conflicts, refusals, retries, causes, services }).toEqual({
    plans: 3,
    failures: 1,
    conflicts: 1,
    refusals: 0,
    retries: 2,
    causes: 7,
    services: 2,
  });
  expect(writes).toEqual({ create: 2, update: 0, delete: 0 });
});

test('a refused plan is remembered until a plan of the same Service and controller is applied', () => {
  const statistics = new Statistics();
  statistics.add(anApplied({ status: 'rejected', message: 'denied by a webhook' }));
  statistics.add(anApplied({ service: 'db', status: 'rejected', message: 'forbidden' }));
  statistics.add(anApplied({ service: 'db', status: 'conflict' }));
  statistics.add(anApplied());
  expect(statistics).toMatchObject({ failures: 3, conflicts: 1, refusals: 2 });
  expect([...statistics.refused]).toEqual([['sim/shop/db/endpointslice', 'forbidden']]);
  statistics.keepRefused(new Set(['sim/shop/db/endpointslice', 'sim/shop/web/endpoints']));
  expect(statistics.refused.size).toBe(1);
  statistics.keepRefused(new Set());
  expect(statistics.refused.size).toBe(0);
});
