import { formatDuration, formatTable, localTime } from '@sluice/platform/process';
import type { ServiceOutage } from '../view/schemas.ts';
import type { TextFormat } from './text.ts';

type Format = Pick<TextFormat, 'width' | 'now'>;

const headings = ['CLUSTER', 'NAMESPACE', 'SERVICE', 'SINCE', 'DURATION', 'LAST EVENT BEFORE'] as const;

/** Services without a ready endpoint, one line per outage. */
export function listOutages(outages: readonly ServiceOutage[], { width, now }: Format): string {
  if (outages.length === 0) return 'No Service was without a ready endpoint in this period.\n';
  return formatTable(
    headings,
    outages.map(({ clusterName, namespace, name, from, to, isStartKnown, event }) => [
      ...[clusterName, namespace, name, `${isStartKnown ? '' : 'before '}${localTime(from, now)}`],
      ...[to === null ? 'continues' : formatDuration(to - from), event ?? ''],
    ]),
    width,
  );
}
