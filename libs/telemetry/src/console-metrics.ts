import type { Exposition } from './series/exposition.ts';
import { shown } from './series/shown.ts';

/** What a console holds, as it is now. */
export interface ConsoleStands {
  readonly services: number;
  readonly historyBytes: number;
  /** When the history begins, in milliseconds since the Unix epoch; undefined: it is empty. */
  readonly since: number | undefined;
  /** Logs of which older records are still being read. */
  readonly behind: number;
}

export function consoleMetrics(exposition: Exposition, stands: () => ConsoleStands): void {
  const gauge = (name: string, help: string, of: (stands: ConsoleStands) => number) =>
    shown(exposition, { name: `sluice_console_${name}`, help, labelNames: [] }, (show) => show(of(stands())));
  gauge('services', 'Services of which a history is kept', ({ services }) => services);
  gauge('history_bytes', 'Size of the records that are kept', ({ historyBytes }) => historyBytes);
  gauge('history_since_timestamp_seconds', 'When the history begins', ({ since = 0 }) => since / 1_000);
  gauge('logs_behind', 'Logs of which older records are still being read', ({ behind }) => behind);
}
