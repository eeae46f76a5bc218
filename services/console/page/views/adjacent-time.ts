import type { HistoryView } from '../../src/view/schemas.ts';
import { wholeMs } from '../router.ts';

/** The time of the previous or next entry; undefined: now. */
export function adjacentTime(entries: HistoryView['entries'], at: number | undefined, by: -1 | 1): number | undefined {
  const times = [...new Set(entries.map((entry) => wholeMs(entry.at)))].sort((a, b) => a - b);
  if (by < 0) return times.findLast((time) => at === undefined || time < at) ?? at;
  return at === undefined ? undefined : times.find((time) => time > at);
}
