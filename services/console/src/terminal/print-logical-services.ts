import { formatDuration, formatTable, localTime } from '@sluice/platform/process';
import type {
  ConditionView,
  LogicalServiceDetail,
  LogicalServiceList,
  LogicalServiceSummary,
} from '../view/schemas.ts';
import { type TextFormat, wrapIndented } from './text.ts';

type Format = Pick<TextFormat, 'width' | 'now'>;
type LostCluster = NonNullable<LogicalServiceList['clusters'][number]['lost']>;
type InCluster = LogicalServiceSummary['clusters'][number];

/** Services over all clusters, one line each, below the clusters that are lost. `none`: what to say without any. */
export function listLogicalServices(
  { items, total, clusters }: LogicalServiceList,
  format: TextFormat,
  none: string,
): string {
  const linesOfLost = clusters.flatMap(({ clusterName, lost }) =>
    lost === null ? [] : [wrapIndented('', lostText(clusterName, lost, format), format, format.colors.red)],
  );
  if (items.length === 0) return `${linesOfLost.join('')}${none}`;
  const table = formatTable(
    ['NAMESPACE', 'SERVICE', 'READY', 'CLUSTERS', 'CONDITION', 'MESSAGE'],
    items.map(({ namespace, name, endpoints, clusters: having, conditions: [worst, ...others] }) => [
      ...[namespace, name, `${endpoints.ready}/${endpoints.all}`, `${servingOf(having).length}/${having.length}`],
      worst === undefined ? 'ok' : `${worst.type}${others.length === 0 ? '' : ` +${others.length}`}`,
      worst?.message ?? '',
    ]),
    format.width,
  );
  const rest = total > items.length ? `Showing ${items.length} of ${total} Services.\n` : '';
  return `${linesOfLost.join('')}${table}${rest}`;
}

/** A Service over all clusters: what is wrong, each cluster, differences, and what the loss of a cluster means. */
export function printLogicalService(detail: LogicalServiceDetail, format: TextFormat): string {
  const { namespace, name, endpoints, clusters, conditions } = detail;
  const { colors } = format;
  const having = `${servingOf(clusters).length} of ${clusters.length} clusters`;
  const heading = `Service ${namespace}/${name} in all clusters: ${endpoints.ready} of ${endpoints.all} endpoints ready, in ${having}`;
  return [
    wrapIndented('', heading, format, colors.bold),
    ...conditions.map(({ type, severity, message }) =>
      wrapIndented('', `${type}: ${message}`, format, paintOf(severity, format)),
    ),
    '\n',
    formatTable(
      [
        'CLUSTER',
        ...(clusters.some((one) => one.name !== name) ? ['NAME'] : []),
        'READY',
        'SERVING',
        'TERMINATING',
        'ALL',
        'ZONES',
        'STATE',
      ],
      clusters.map((one) => [
        one.clusterName,
        ...(clusters.some((other) => other.name !== name) ? [one.name] : []),
        ...[one.endpoints.ready, one.endpoints.serving, one.endpoints.terminating, one.endpoints.all].map(String),
        one.zones.map(({ zone, ready, all }) => `${zone || 'unknown'} ${ready}/${all}`).join(', '),
        stateText(one),
      ]),
      format.width,
    ),
    ...differenceLines(detail, format),
    ...lossLines(detail, format),
  ].join('');
}

const servingOf = (clusters: readonly InCluster[]) =>
  clusters.filter(({ counts, endpoints: { ready } }) => counts && ready > 0);

export const lostText = (name: string, { since, reason }: LostCluster, { now }: Format): string =>
  since === 0
    ? `${name}: ${reason}; nothing is known of it`
    : `${name}: ${reason}; known up to ${localTime(since, now)} (${formatDuration(Math.max(0, now - since))} ago)`;

function stateText({ exists, isComplete, ageMs, lostReason, counts }: InCluster): string {
  if (ageMs !== null) return `${lostReason}, ${formatDuration(ageMs)} old, ${counts ? 'counts' : 'does not count'}`;
  if (!exists) return 'deleted, slices are left';
  if (!isComplete) return 'incomplete';
  return counts ? 'watched' : 'left out';
}

function paintOf(severity: ConditionView['severity'], { colors }: TextFormat): (line: string) => string {
  if (severity === 'critical') return colors.red;
  return severity === 'warning' ? colors.yellow : colors.dim;
}

function differenceLines({ differences }: LogicalServiceDetail, format: TextFormat): readonly string[] {
  if (differences.length === 0) return [];
  const rows = differences.flatMap(({ field, values }) =>
    values.map(({ value, clusters }, i) => [i === 0 ? field : '', value === '' ? 'none' : value, namesOf(clusters)]),
  );
  return ['\n', formatTable(['DIFFERS IN', 'VALUE', 'CLUSTERS'], rows, format.width)];
}

function lossLines({ losses }: LogicalServiceDetail, format: TextFormat): readonly string[] {
  if (losses.length === 0) return [];
  const rows = losses.map(({ clusterName, share, loadFactor }) => [
    clusterName,
    `${Math.round(share * 100)} %`,
    loadFactor === null ? 'none is left' : `${loadFactor.toFixed(1)}× load on each other`,
  ]);
  return ['\n', formatTable(['IF LOST', 'OF READY', 'THEN'], rows, format.width)];
}

/** Names of clusters; a thousand are counted. */
function namesOf(clusters: readonly string[]): string {
  if (clusters.length <= 6) return clusters.join(', ');
  return `${clusters.slice(0, 5).join(', ')} and ${clusters.length - 5} others`;
}
