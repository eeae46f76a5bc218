import { parseDuration, timeToSecond } from '@sluice/platform/process';
import type { Overview } from '../view/schemas.ts';

/** The time a duration (`1h`) before now, in milliseconds since the Unix epoch; undefined if malformed. */
export function parseSince(text: string, now: number): number | undefined {
  const ms = parseDuration(text);
  return ms === undefined ? undefined : now - ms;
}

/**
 * Parses a time: RFC 3339 (`2026-03-01T03:12:00Z`), the same without a zone for local time, the most recent time of day
 * (`03:12`, `03:12:30`), or `5m ago`. Returns milliseconds since the Unix epoch; undefined if malformed.
 */
export function parseAt(text: string, now: number): number | undefined {
  const [, ago] = /^(\S+) ago$/.exec(text) ?? [];
  if (ago !== undefined) return parseSince(ago, now);
  const [, hours, minutes, seconds = '0'] = /^(\d{1,2}):(\d{2})(?::(\d{2}))?$/.exec(text) ?? [];
  if (hours !== undefined && minutes !== undefined) return latestTimeOfDay([hours, minutes, seconds].map(Number), now);
  if (!/^\d{4}-\d{2}-\d{2}[T ]\d{2}:\d{2}(:\d{2}(\.\d+)?)?(Z|[+-]\d{2}:\d{2})?$/i.test(text)) return undefined;
  const at = Date.parse(text.replace(' ', 'T'));
  return Number.isNaN(at) ? undefined : at;
}

/** The last time before `now` at which local clocks showed this time of day. */
function latestTimeOfDay([hours = 0, minutes = 0, seconds = 0]: readonly number[], now: number): number | undefined {
  if (hours > 23 || minutes > 59 || seconds > 59) return undefined;
  const date = new Date(now);
  const today = date.setHours(hours, minutes, seconds, 0);
  return today <= now ? today : date.setDate(date.getDate() - 1);
}

/** Until when something has lasted that continues: now, or the end of a recording without its clusters. */
export function lastTime({ recording, clusters }: Pick<Overview, 'recording' | 'clusters'>, now: number): number {
  const isOpened = clusters.length > 0 && clusters.every(({ state }) => state === 'recorded');
  return isOpened && recording !== null ? recording.to : now;
}

/** `west has not answered since 11:58:53 (connection refused)` */
export function outageText(
  outage: {
    readonly what: string;
    readonly since: number;
    readonly reason: string;
    readonly answers?: boolean | undefined;
  },
  now: number,
) {
  const { what, since, reason, answers } = outage;
  const state = answers ? 'has been unusable' : 'has not answered';
  return `${what} ${state} since ${timeToSecond(since, now)} (${reason})`;
}
