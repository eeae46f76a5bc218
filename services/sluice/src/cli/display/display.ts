import type { Applied } from './applied.ts';
import type { Statistics } from './statistics.ts';

/** Shows the progress of a run. */
export interface Display {
  started(lines: readonly string[]): void;
  /** All caches are synced. */
  synced(): void;
  applied(applied: Applied): void;
  ended(statistics: Statistics, ranMs: number): void;
}
