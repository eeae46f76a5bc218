import type { Applied } from './applied.ts';
import type { Statistics } from './statistics.ts';

/** Shows a run to whoever started it. */
export interface Display {
  started(lines: readonly string[]): void;
  applied(applied: Applied): void;
  ended(statistics: Statistics, ranMs: number): void;
}
