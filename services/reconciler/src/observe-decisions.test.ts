import { expect, test } from 'vitest';
import { noPartitionMetrics } from './metrics.ts';
import { observeDecisions } from './observe-decisions.ts';
import { type MetricsCall, recordingMetrics } from './testing/recording-metrics.ts';

test('everything is still reported to the metrics, and only decisions to the observer', () => {
  const { metrics, calls } = recordingMetrics();
  const seen: unknown[][] = [];
  const opened: number[] = [];
  const open = (partition: number) => {
    opened.push(partition);
    return metrics;
  };
  const observed = observeDecisions({ open }, (...decision) => void seen.push(decision)).open(3);
  const reports = Object.keys(noPartitionMetrics).map((method): MetricsCall => [method, 'c/shop/web', 'endpoints']);
  const methods = new Map<string, unknown>(Object.entries(observed));
  for (const [method, ...args] of reports) (methods.get(method) as (...args: unknown[]) => void)(...args);
  expect(opened).toEqual([3]);
  expect(calls).toEqual(reports.map((report) => (report[0] === 'close' ? ['close'] : report)));
  expect(seen).toEqual([['c/shop/web', 'endpoints']]);
});
