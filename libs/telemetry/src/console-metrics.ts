import type { Exposition } from './prometheus/exposition.ts';
import { observableGauge } from './prometheus/metrics.ts';

/** Current state of a console's history. */
export interface ConsoleStands {
  readonly services: number;
  readonly historyBytes: number;
  /** Time of the oldest record, in milliseconds since the Unix epoch; undefined if the history is empty. */
  readonly since: number | undefined;
  /** Log partitions whose older records are still being read. */
  readonly behind: number;
}

export function consoleMetrics(exposition: Exposition, stands: () => ConsoleStands): void {
  const gauge = (name: string, help: string, of: (stands: ConsoleStands) => number) =>
    observableGauge(exposition, { name: `sluice_console_${name}`, help, labelNames: [] }, (report) =>
      report(of(stands())),
    );
  gauge('services', 'Services with a history', ({ services }) => services);
  gauge('history_bytes', 'Size of the history', ({ historyBytes }) => historyBytes);
  gauge(
    'history_start_timestamp_seconds',
    'Time of the oldest record of the history',
    ({ since = 0 }) => since / 1_000,
  );
  gauge('partitions_backfilling', 'Partitions whose older records are still being read', ({ behind }) => behind);
}
