import { humanDuration } from './human-duration.ts';

/** `12:04:09.250` in local time */
export function timeOfDay(at: number, withMillis = true): string {
  const date = new Date(at);
  const two = (n: number) => String(n).padStart(2, '0');
  const time = `${two(date.getHours())}:${two(date.getMinutes())}:${two(date.getSeconds())}`;
  return withMillis ? `${time}.${String(date.getMilliseconds()).padStart(3, '0')}` : time;
}

/** `21 Nov 12:04:09` */
export function dateAndTime(at: number, withMillis = false): string {
  const day = new Date(at).toLocaleDateString(undefined, { day: 'numeric', month: 'short' });
  return `${day} ${timeOfDay(at, withMillis)}`;
}

interface Outage {
  readonly what: string;
  readonly since: number;
  readonly reason: string;
  readonly answers?: boolean | undefined;
}

/** `west has not answered since 12:04:09 (connection refused)` */
export function outageText({ what, since, reason, answers }: Outage): string {
  return `${what} ${answers ? 'has been unusable' : 'has not answered'} since ${shortTime(since, Date.now())} (${reason})`;
}

/** Replaces times in UTC, as messages of the API have them, by local times. */
export function withLocalTimes(text: string, now = Date.now()): string {
  return text.replaceAll(/\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(\.\d+)?Z/g, (time) => shortTime(Date.parse(time), now));
}

/** `340 ms`, `2.1 s`, `4m10s`, `3d4h` */
export function duration(ms: number): string {
  if (ms < 1) return '<1 ms';
  if (ms < 1_000) return `${Math.round(ms)} ms`;
  if (ms < 10_000) return `${(ms / 1_000).toFixed(1)} s`;
  return ms < 120_000 ? `${Math.round(ms / 1_000)} s` : humanDuration(ms);
}

/** An opened recording keeps everything: its retention, which JSON cannot express, is null. */
export const retentionText = (ms: number): string => (Number.isFinite(ms) ? `, retention ${duration(ms)}` : '');

/** `12 µs`, `3.4 ms`, `21 ms` */
export function fineDuration(ms: number): string {
  if (ms === 0) return '0';
  if (ms < 1) return `${Math.max(1, Math.round(ms * 1_000))} µs`;
  return ms < 10 ? `${ms.toFixed(1)} ms` : duration(ms);
}

/** `now`, `12 s ago` */
export function ago(at: number, now: number): string {
  const ms = now - at;
  return ms < 1_500 ? 'now' : `${duration(ms < 10_000 ? Math.round(ms / 1_000) * 1_000 : ms).replace('.0', '')} ago`;
}

/** Length of a latency bar from 0 to 1, on a logarithmic scale from 1 ms to 10 s. */
export function latencyShare(ms: number): number {
  return Math.min(1, Math.max(0.04, Math.log10(Math.max(1, ms)) / 4));
}

/** `12:04:09`, with the date unless both are on the same day. */
export function shortTime(at: number, now: number): string {
  return new Date(at).toDateString() === new Date(now).toDateString() ? timeOfDay(at, false) : dateAndTime(at);
}

export function latencyLevel(ms: number): 'good' | 'fair' | 'poor' {
  return ms < 100 ? 'good' : ms < 1_000 ? 'fair' : 'poor';
}

export const plural = (count: number, one: string, many = `${one}s`): string => `${count} ${count === 1 ? one : many}`;

/** The trace id of a W3C traceparent; undefined if it is malformed or not sampled. */
export function sampledTrace(traceparent: string | undefined): string | undefined {
  const [, id, flags] = /^[0-9a-f]{2}-([0-9a-f]{32})-[0-9a-f]{16}-([0-9a-f]{2})$/.exec(traceparent ?? '') ?? [];
  return (Number.parseInt(flags ?? '', 16) & 1) === 1 ? id : undefined;
}
