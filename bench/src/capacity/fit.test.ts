import { type ChangeCost, type UnitCosts, usageOf } from '@sluice/capacity';
import { expect, test } from 'vitest';
import { compare, compared, deviation } from './comparison.ts';
import { type Fitted, fit, fitted } from './fit.ts';
import { type MeasuredSize, type Part, parts, type Size } from './measure-size.ts';

const size = { fixed: 100, perCluster: 7, perService: 0.3, perPod: 0.02 };
const part = {
  start: size,
  idle: { fixed: 20, perCluster: 1.5 },
  change: { fixed: 3, perEndpoint: 0.1 },
  memory: size,
};
const known: UnitCosts = {
  ...{ worker: part, redis: part },
  nats: { ...part, memory: { ...size, perCluster: 0, perPod: 0 } },
  natsMemoryPerTraffic: 0.04,
  natsIn: { fixed: 8, perEndpoint: 0.3 },
  natsOut: { fixed: 3, perEndpoint: 0.2 },
  writes: 2,
};

/** What a fleet with exactly these costs shows. */
function measured({ clusters, services, pods, rate }: Size, costs: UnitCosts): MeasuredSize {
  const all = { clusters, services: clusters * services, pods: clusters * services * pods, changes: 0 };
  const usage = usageOf(all, 1, costs);
  const each = (of: (part: Part) => number) => ({ worker: of('worker'), nats: of('nats'), redis: of('redis') });
  const start = ({ fixed, perCluster, perService, perPod }: UnitCosts['worker']['start']) =>
    fixed + perCluster * all.clusters + perService * all.services + perPod * all.pods;
  const perChange = ({ fixed, perEndpoint }: ChangeCost) => fixed + perEndpoint * pods;
  return {
    ...{ completeSeconds: 1, missing: 0, p99Ms: 10 * rate },
    start: each((name) => start(costs[name].start)),
    idle: each((name) => usage[name].cpu),
    change: {
      ...each((name) => perChange(costs[name].change)),
      ...{ natsIn: perChange(costs.natsIn), natsOut: perChange(costs.natsOut), writes: costs.writes },
    },
    memory: {
      ...each((name) => usage[name].memory),
      nats: usage.nats.memory + costs.natsMemoryPerTraffic * rate * perChange(costs.natsIn),
    },
  };
}

const all = (costs: UnitCosts) =>
  Object.fromEntries(Object.entries(fitted).map(([name, one]) => [name, measured(one, costs)])) as Fitted;

test('the costs follow from the measurements of all sizes', () => {
  const costs = fit(all(known));
  for (const name of parts) {
    for (const kind of ['start', 'memory'] as const) {
      for (const field of ['fixed', 'perCluster', 'perService', 'perPod'] as const) {
        expect(costs[name][kind][field]).toBeCloseTo(known[name][kind][field]);
      }
    }
    expect(costs[name].idle.perCluster).toBeCloseTo(1.5);
    expect(costs[name].change.fixed).toBeCloseTo(3);
    expect(costs[name].change.perEndpoint).toBeCloseTo(0.1);
  }
  expect(costs.natsIn.perEndpoint).toBeCloseTo(0.3);
  expect(costs.natsMemoryPerTraffic).toBeCloseTo(0.04);
  expect(costs.writes).toBe(2);
});

test('no cost is negative, however noisy a measurement is', () => {
  const noisy = all(known);
  const shrunk = { ...noisy.pods, memory: { worker: 1, nats: 1, redis: 1 }, start: { worker: 1, nats: 1, redis: 1 } };
  const costs = fit({ ...noisy, pods: shrunk });
  for (const name of parts) {
    expect(Math.min(...Object.values(costs[name].start), ...Object.values(costs[name].memory))).toBeGreaterThanOrEqual(
      0,
    );
  }
});

test('a fleet with exactly the costs of the model deviates nowhere, and one that uses half as much again does', () => {
  for (const one of compared) {
    const measurement = { size: one, measured: measured(one, known) };
    for (const row of compare(measurement, known)) expect(deviation(row)).toBeCloseTo(0);
  }
  const [one] = compared;
  const measurement = { size: one, measured: measured(one, known) };
  const memory = { ...measurement.measured.memory, worker: measurement.measured.memory.worker * 1.5 };
  const [row] = compare({ ...measurement, measured: { ...measurement.measured, memory } }, known).filter(
    ({ name }) => name === 'memory of the worker, MB',
  );
  expect(row && deviation(row)).toBeCloseTo(-1 / 3);
});
