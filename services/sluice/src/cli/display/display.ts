import type { Applied } from './applied.ts';
import type { Statistics } from './statistics.ts';

/** Shows a run to whoever started it. */
export interface Display {
  started(lines: readonly string[]): void;
  /** All lists are in: from here on, what is written is complete. */
  synced(): void;
  applied(applied: Applied): void;
  ended(statistics: Statistics, ranMs: number): void;
}
