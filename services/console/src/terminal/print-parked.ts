import { firstLine, formatFields, formatTable, printable, timestamp } from '@sluice/process';
import type { ParkedKey } from '../fleet/parked-key.ts';

const headings = ['CLUSTER', 'NAMESPACE', 'SERVICE', 'CONTROLLER', 'SINCE', 'NEXT TRY', 'REASON'] as const;

export function listParked(keys: readonly ParkedKey[]): string {
  if (keys.length === 0) return 'No parked Services.\n';
  return formatTable(
    headings,
    keys.map(({ key, clusterName, controller, since, nextTryAt, reason }) => [
      ...[clusterName ?? key.cluster, key.namespace, key.service, controller],
      ...[timestamp(since), nextTry(nextTryAt), printable(firstLine(reason))],
    ]),
  );
}

export function describeParked({ key, clusterName, controller, since, nextTryAt, reason, causes }: ParkedKey): string {
  return formatFields([
    ['Cluster', clusterName === undefined ? key.cluster : `${clusterName} (${key.cluster})`],
    ['Service', `${key.namespace}/${key.service}`],
    ['Controller', controller],
    ['Since', timestamp(since)],
    ['Next try', nextTry(nextTryAt)],
    ['Reason', printable(reason)],
    ...causes.first.map(
      ({ description, observedAt }) => ['Cause', `${printable(description)}, ${timestamp(observedAt)}`] as const,
    ),
    ...(causes.more > 0 ? [['', `and ${causes.more} more`] as const] : []),
  ]);
}

/** One line of JSON. */
export function parkedJson({ name, key, controller, reason, since, nextTryAt, causes }: ParkedKey): string {
  const times = { since: timestamp(since), nextTryAt: nextTryAt === null ? null : timestamp(nextTryAt) };
  return `${JSON.stringify({ name, ...key, controller, reason, ...times, causes })}\n`;
}

const nextTry = (at: number | null): string => (at === null ? 'on next change' : timestamp(at));
