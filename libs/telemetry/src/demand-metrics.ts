import type { Clock } from '@sluice/runtime';
import type { LeaseMetrics } from './lease-metrics.ts';
import type { Exposition } from './prometheus/exposition.ts';
import { observableGauge, type Report } from './prometheus/metrics.ts';
import { type Demand, ReplicaDemand } from './replica-demand.ts';

export interface DemandOptions {
  readonly clock: Clock;
  /** Time for which the event loop of this process was busy since its start, in milliseconds. */
  readonly busyMs: () => number;
}

/** What a HorizontalPodAutoscaler needs to know of this process. */
export function demandMetrics(exposition: Exposition, { clock, busyMs }: DemandOptions, leases: LeaseMetrics): void {
  const demand = new ReplicaDemand(
    () => clock.monotonic(),
    () => ({ busyMs: busyMs(), records: leases.processed('changes') }),
  );
  const gauge = (name: string, help: string, of: (demand: Demand) => number) =>
    observableGauge(exposition, { name, help, labelNames: [] }, async (report: Report) =>
      report(of(demand.read(await leases.backlog('changes')))),
    );
  gauge(
    'sluice_utilization_ratio',
    'Part of the last 15 s or more for which the event loop was busy',
    ({ utilization }) => utilization,
  );
  gauge(
    'sluice_backlog_seconds',
    'Time that this process needs for its unprocessed Changes, at its present speed',
    ({ backlogSeconds }) => backlogSeconds,
  );
  gauge(
    'sluice_desired_replicas',
    "This process's part of the number of replicas that its Deployment needs; the sum over all Pods is that number",
    ({ desiredReplicas }) => desiredReplicas,
  );
}
