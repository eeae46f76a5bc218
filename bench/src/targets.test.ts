import { expect, test } from 'vitest';
import type { Run } from './results.ts';
import { compareControllers, judgeThroughput } from './targets.ts';
import type { Throughput } from './throughput-measure.ts';

function run(controller: string, cpuSeconds: number, p50: number): Run {
  const cost = { seconds: 10, writes: {}, peakMemoryMb: 100 * cpuSeconds };
  const cpu = { controller: cpuSeconds, apiServer: 0, etcd: 0, bench: 0, others: 0 };
  const slices = { histogram: [[p50, 900] as const, [2 * p50, 100] as const], max: 2 * p50, missing: 0, cancelled: 0 };
  const flips = { phase: '20 flips/s, warm', rate: 20, flips: 200, slices };
  const load = {} as Run['rates'][number]['load'];
  const rates = [{ ...flips, convergenceSeconds: 0, load, cost: { ...cost, cpuSeconds: cpu } }];
  const coldStart = { completeSeconds: cpuSeconds, firstWriteSeconds: 0, cost: { ...cost, cpuSeconds: cpu } };
  return { controller, round: 1, coldStart, rates };
}

test('compares the worker with the others in each phase, as ratios', () => {
  const targets = compareControllers([run('sluice', 1, 10), run('worker', 2, 12), run('kcm-raised', 4, 24)]);
  expect(Object.fromEntries(targets.map(({ name, measured }) => [name, measured]))).toEqual({
    'CPU per flip ÷ sluice run, 20 flips/s, warm': 2,
    'CPU per flip ÷ kube-controller-manager, 20 flips/s, warm': 0.5,
    'p50 ÷ kube-controller-manager, 20 flips/s, warm': 0.5,
    'p99 ÷ kube-controller-manager, 20 flips/s, warm': 0.5,
    'p50 of Endpoints ÷ kube-controller-manager, 20 flips/s, warm': Number.NaN,
    'p99 of Endpoints ÷ kube-controller-manager, 20 flips/s, warm': Number.NaN,
    'cold start ÷ kube-controller-manager': 0.5,
    'MB of a worker, NATS and Redis': 200,
  });
});

test('compares reconcilers at the same load of all together, and of each', () => {
  const measured = (workers: number, rate: number, cpuMicrosecondsPerChange: number) =>
    ({ workers, rate, cpuMicrosecondsPerChange, unitMicroseconds: 20, changesPerSecond: rate }) as Throughput;
  const results = [
    ...[measured(1, 125, 150), measured(1, 500, 100), measured(1, 20_000, 50)],
    ...[measured(2, 250, 165), measured(2, 500, 130)],
    measured(4, 500, 180),
  ];
  const targets = judgeThroughput(results, { sustained: 500, each: 125, capacity: 20_000 });
  expect(targets.map(({ measured }) => measured)).toEqual([1.3, 1.1, 1.8, 1.2, 50]);
});
