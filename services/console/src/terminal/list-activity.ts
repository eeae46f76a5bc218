import { formatDuration, formatTable, localTime } from '@sluice/platform/process';
import type { ActivityList } from '../view/schemas.ts';
import { type TextFormat, wrapIndented } from './text.ts';

/** The most active Services or clusters, one line each. */
export function listActivity(
  { since, until, total, items }: ActivityList,
  by: 'service' | 'cluster',
  format: TextFormat,
): string {
  const period = `from ${localTime(since, format.now)} to ${localTime(until, format.now)}`;
  if (items.length === 0) return wrapIndented('', `Nothing was written ${period}.`, format);
  const minutes = Math.max(1, until - since) / 60_000;
  const duration = (ms: number | null) => (ms === null ? '' : formatDuration(ms));
  const table = formatTable(
    [
      'CLUSTER',
      ...(by === 'cluster' ? ['SERVICES'] : ['NAMESPACE', 'SERVICE']),
      ...['WRITES', 'PER MIN', 'FAILED', 'ENDPOINTS', 'P50', 'P99', 'LAST'],
    ],
    items.map(({ clusterName, namespace, name, services, writes, failed, endpoints, p50Ms, p99Ms, lastAt }) => [
      clusterName,
      ...(by === 'cluster' ? [String(services)] : [namespace, name]),
      ...[String(writes), (writes / minutes).toFixed(1), String(failed), String(endpoints)],
      ...[duration(p50Ms), duration(p99Ms), localTime(lastAt, format.now)],
    ]),
    format.width,
  );
  const what = by === 'cluster' ? 'clusters' : 'Services';
  const rest = total > items.length ? `, ${items.length} of ${total} ${what}` : '';
  return `${table}${wrapIndented('', `Writes ${period}${rest}.`, format)}`;
}
