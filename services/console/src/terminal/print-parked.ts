import { firstLine, formatFields, formatTable, localTime, timestamp, timeToSecond } from '@sluice/platform/process';
import type { ParkedKey } from '../fleet/parked-key.ts';
import type { TextFormat } from './text.ts';

type Format = Pick<TextFormat, 'width' | 'now'>;

const headings = ['CLUSTER', 'NAMESPACE', 'SERVICE', 'CONTROLLER', 'SINCE', 'NEXT TRY', 'REASON'] as const;

export function listParked(keys: readonly ParkedKey[], { width, now }: Format): string {
  if (keys.length === 0) return 'No parked Services.\n';
  return formatTable(
    headings,
    keys.map(({ key, clusterName, controller, since, nextTryAt, reason }) => [
      ...[clusterName ?? key.cluster, key.namespace, key.service, controller],
      ...[timeToSecond(since, now), nextTry(nextTryAt, now), firstLine(reason)],
    ]),
    width,
  );
}

export function describeParked(
  { key, clusterName, controller, since, nextTryAt, reason, causes }: ParkedKey,
  { width, now }: Format,
): string {
  return formatFields(
    [
      ['Cluster', clusterName === undefined ? key.cluster : `${clusterName} (${key.cluster})`],
      ['Service', `${key.namespace}/${key.service}`],
      ['Controller', controller],
      ['Since', timeToSecond(since, now)],
      ['Next try', nextTry(nextTryAt, now)],
      ['Reason', reason],
      ...causes.first.map(
        ({ description, observedAt }) => ['Cause', `${description}, ${localTime(observedAt, now)}`] as const,
      ),
      ...(causes.more > 0 ? [['', `and ${causes.more} more`] as const] : []),
    ],
    width,
  );
}

/** One line of JSON. */
export function parkedJson({
  name,
  key,
  clusterName,
  controller,
  reason,
  since,
  nextTryAt,
  causes,
}: ParkedKey): string {
  const times = { since: timestamp(since), nextTryAt: nextTryAt === null ? null : timestamp(nextTryAt) };
  return `${JSON.stringify({ name, ...key, clusterName, controller, reason, ...times, causes })}\n`;
}

const nextTry = (at: number | null, now: number): string => (at === null ? 'on next change' : timeToSecond(at, now));
