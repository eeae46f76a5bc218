import { type UnitCosts, usageOf } from '@sluice/capacity';
import { number, type Table } from '../table.ts';
import type { Measurement } from './fit.ts';

/** The sizes at which the model is compared with measurements. None of them is one from which its costs are taken. */
export const compared = [
  { clusters: 1, services: 100, pods: 20, rate: 50 },
  { clusters: 20, services: 50, pods: 10, rate: 50 },
  { clusters: 100, services: 20, pods: 5, rate: 50 },
] as const;

/** Largest difference between prediction and measurement. */
export const tolerance = 0.25;

export interface Comparison {
  readonly name: string;
  readonly measured: number;
  readonly predicted: number;
}

/** What a fleet of one worker used, and what the model predicts. */
export function compare({ size, measured }: Measurement, costs: UnitCosts): readonly Comparison[] {
  const { clusters, rate } = size;
  const services = clusters * size.services;
  const predicted = usageOf({ clusters, services, pods: services * size.pods, changes: rate }, 1, costs);
  const { start, idle, change, memory } = measured;
  const cpu = (part: 'worker' | 'nats' | 'redis') => idle[part] + change[part] * rate;
  return [
    {
      name: 'CPU until complete, s',
      measured: (start.worker + start.nats + start.redis) / 1_000,
      predicted: predicted.startCpuSeconds,
    },
    {
      name: 'CPU, ms/s',
      measured: cpu('worker') + cpu('nats') + cpu('redis'),
      predicted: predicted.worker.cpu + predicted.nats.cpu + predicted.redis.cpu,
    },
    { name: 'CPU of the worker, ms/s', measured: cpu('worker'), predicted: predicted.worker.cpu },
    { name: 'memory of the worker, MB', measured: memory.worker, predicted: predicted.worker.memory },
    { name: 'memory of NATS, MB', measured: memory.nats, predicted: predicted.nats.memory },
    { name: 'data in Redis, MB', measured: memory.redis, predicted: predicted.redis.memory },
    { name: 'NATS in, kB/s', measured: change.natsIn * rate, predicted: predicted.natsIn },
    { name: 'NATS out, kB/s', measured: change.natsOut * rate, predicted: predicted.natsOut },
    { name: 'API writes/s', measured: change.writes * rate, predicted: predicted.writes },
  ];
}

/** Predicted divided by measured, less one. */
export const deviation = ({ measured, predicted }: Comparison): number => predicted / measured - 1;

export function comparisonTable({ size }: Measurement, rows: readonly Comparison[]): Table {
  const { clusters, services, pods, rate } = size;
  return {
    title: `${clusters} clusters × ${services} Services × ${pods} Pods, ${rate} changes/s, one worker`,
    head: ['', 'measured', 'predicted', 'difference'],
    rows: rows.map((row) => ({
      cells: [row.name, number(row.measured), number(row.predicted), `${(deviation(row) * 100).toFixed(0)} %`],
    })),
  };
}
