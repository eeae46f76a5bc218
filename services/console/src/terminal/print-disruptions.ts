import { formatDuration, formatTable, localTime } from '@sluice/platform/process';
import type { NodeDisruptionView } from '../view/schemas.ts';
import { type TextFormat, wrapIndented } from './text.ts';

type Service = NodeDisruptionView['services'][number];

/** Disruptions of any Nodes, one line each. */
export function listDisruptions(disruptions: readonly NodeDisruptionView[], { width, now }: TextFormat): string {
  if (disruptions.length === 0) return 'No Node with Pods of a Service was disrupted in this period.\n';
  return formatTable(
    ['CLUSTER', 'NODE', 'SINCE', 'DURATION', 'SERVICES', 'WITHOUT READY ENDPOINT', 'FIRST EVENT'],
    disruptions.map((one) => [
      ...[one.clusterName, one.node, localTime(one.from, now), durationText(one), String(one.services.length)],
      ...[String(one.services.filter(({ outages }) => outages.length > 0).length), one.events[0]?.text ?? ''],
    ]),
    width,
  );
}

/** What the disruptions of one Node did to each Service. */
export function printDisruptions(node: string, disruptions: readonly NodeDisruptionView[], format: TextFormat): string {
  if (disruptions.length > 0) return disruptions.map((one) => printDisruption(one, format)).join('\n');
  return wrapIndented('', `Node ${node} was not disrupted in this period.`, format);
}

function printDisruption(disruption: NodeDisruptionView, format: TextFormat): string {
  const { node, clusterName, from, events, services } = disruption;
  const heading = `Node ${node} in ${clusterName}, ${localTime(from, format.now)}: ${durationText(disruption)}`;
  const lines = events.map(({ at, text }) => wrapIndented(`  ${localTime(at, format.now)}  `, text, format));
  return [
    wrapIndented('', heading, format, format.colors.bold),
    ...lines,
    deletedText(services, format),
    '\n',
    formatTable(
      ['NAMESPACE', 'SERVICE', 'ON NODE', 'LEFT SLICES', 'LONGEST', 'DELETED', 'REPLACED', 'NO READY ENDPOINT'],
      services.map((one) => [
        ...[one.namespace, one.name, ...(one.isStartKnown ? impactCells(one) : ['unknown', '', '', '', ''])],
        outagesText(one, format.now),
      ]),
      format.width,
    ),
  ].join('');
}

const impactCells = ({ pods, onNode, shown, left, maxMs, deleted, replaced }: Service): readonly string[] => [
  ...[`${onNode} of ${pods}`, `${left} of ${shown}`, maxMs === null ? '' : formatDuration(maxMs)],
  ...[String(deleted.length), String(replaced)],
];

function durationText({ from, to, isDeleted }: NodeDisruptionView): string {
  if (to === null) return 'no recovery recorded';
  return `${from === to ? '' : `${formatDuration(to - from)}, `}${isDeleted ? 'deleted' : 'recovered'}`;
}

/** Of a Pod of several Services, counts one. */
function deletedText(services: readonly Service[], format: TextFormat): string {
  const pods = new Map(
    services.flatMap(({ namespace, deleted }) => deleted.map((one) => [`${namespace}/${one.pod}`, one])),
  );
  if (pods.size === 0) return '';
  const byReason = Map.groupBy(pods.values(), ({ reason }) => reason);
  const reasons = [...byReason].map(([reason, { length }]) => `${length} ${reason || 'for an unknown reason'}`);
  return wrapIndented('  ', `Pods deleted: ${reasons.join(', ')}`, format);
}

function outagesText({ outages, lostMs }: Service, now: number): string {
  const open = outages.find(({ to }) => to === null);
  if (open !== undefined) return `since ${localTime(open.from, now)}`;
  return lostMs === 0 ? '' : formatDuration(lostMs);
}
