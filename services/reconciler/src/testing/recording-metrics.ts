import { noPartitionMetrics, type PartitionMetrics } from '../metrics.ts';

export type MetricsCall = readonly [method: string, ...args: unknown[]];

/** Metrics that keep what is reported, in order. */
export function recordingMetrics(): { readonly metrics: PartitionMetrics; readonly calls: MetricsCall[] } {
  const calls: MetricsCall[] = [];
  const methods = Object.keys(noPartitionMetrics).map((method) => [
    method,
    (...args: unknown[]) => void calls.push([method, ...args]),
  ]);
  return { metrics: Object.fromEntries(methods), calls };
}
