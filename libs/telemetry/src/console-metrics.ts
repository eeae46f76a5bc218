import type { Exposition } from './prometheus/exposition.ts';
import { observableGauge } from './prometheus/observable.ts';

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
  gauge('services', 'Services of which a history is kept', ({ services }) => services);
  gauge('history_bytes', 'Size of the records that are kept', ({ historyBytes }) => historyBytes);
  gauge('history_since_timestamp_seconds', 'When the history begins', ({ since = 0 }) => since / 1_000);
  gauge('logs_behind', 'Logs of which older records are still being read', ({ behind }) => behind);
}
