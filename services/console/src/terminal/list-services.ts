import { formatDuration, formatTable, localTime } from '@sluice/platform/process';
import { limitText } from '../../page/limit-text.ts';
import type { ServiceList } from '../view/schemas.ts';
import { type TextFormat, wrapIndented } from './text.ts';

interface Options {
  /** With everything that is known of them. */
  readonly isWide?: boolean;
  /** Services beyond this number have no history; undefined: all have one. */
  readonly servicesLimit?: number | undefined;
}

/** Services, one line each. */
export function listServices(
  { items, total }: ServiceList,
  format: TextFormat,
  { isWide = false, servicesLimit }: Options = {},
): string {
  const limit = servicesLimit === undefined ? '' : wrapIndented('', limitText(servicesLimit), format);
  if (items.length === 0) return `No such Service.\n${limit}`;
  const table = formatTable(
    [
      ...['CLUSTER', 'NAMESPACE', 'SERVICE', 'STATUS', 'READY', 'SLICES'],
      ...(isWide ? ['PODS', 'LAST WRITE', 'LATENCY'] : []),
      'REASON',
    ],
    items.map(({ clusterName, namespace, name, status, ready, endpoints, terminating, slices, reason, ...more }) => [
      ...[clusterName, namespace, name, status, `${ready}/${endpoints - terminating}`, String(slices)],
      ...(isWide ? wideCells(more, format.now) : []),
      reason,
    ]),
    format.width,
  );
  const rest = total > items.length ? `Showing ${items.length} of ${total} Services.\n` : '';
  return `${table}${rest}${limit}`;
}

function wideCells(
  { pods, lastChangeAt, lastLatencyMs }: Pick<ServiceList['items'][number], 'pods' | 'lastChangeAt' | 'lastLatencyMs'>,
  now: number,
): readonly string[] {
  const latency = lastLatencyMs === null ? '' : formatDuration(lastLatencyMs);
  return [String(pods), lastChangeAt === null ? '' : localTime(lastChangeAt, now), latency];
}
