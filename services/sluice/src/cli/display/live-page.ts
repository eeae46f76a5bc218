import { formatDuration, type PageSize, printableLine, truncate } from '@sluice/platform/process';
import colors from 'picocolors';
import type { ClusterPhase, Statistics } from './display.ts';
import type { RecentChanges } from './recent-changes.ts';
import { clustersText, count } from './text-display.ts';
import type { EndpointTotals } from './written-endpoints.ts';

export interface LiveStatus {
  readonly ranMs: number;
  /** What happens now; empty if that is unknown. */
  readonly happening: string;
  readonly endpoints: EndpointTotals;
  readonly statistics: Pick<Statistics, 'writes' | 'latencies' | 'conflicts' | 'refusals'>;
  /** Empty if there is only one. */
  readonly clusters: readonly ClusterPhase[];
  readonly changes: Pick<RecentChanges, 'lines'>;
}

/** The lines printed at the start, with commands to try, are to stay on the screen. */
const maxChangeLines = 8;

/** Renders the state of a run in at most the given number of lines and columns. */
export function renderLive(status: LiveStatus, { width, height }: PageSize): readonly string[] {
  const { happening, clusters, changes } = status;
  const head = [
    `${colors.bold('Simulation')}, running for ${formatDuration(status.ranMs)}; Ctrl-C stops it with a summary`,
    ...(happening === '' ? [] : [`  now        ${colors.bold(printableLine(happening))}`]),
    `  Services   ${servicesText(status.endpoints)}`,
    `  written    ${writtenText(status.statistics)}`,
    ...(clusters.length === 0 ? [] : [`  clusters   ${clustersText(clusters)}`]),
    '',
  ];
  const room = Math.max(0, Math.min(maxChangeLines, height - head.length));
  return [...head, ...changes.lines(room)].slice(0, Math.max(1, height)).map((line) => truncate(line, width));
}

function servicesText({ ok, rolling, degraded, empty, ready, notReady }: EndpointTotals): string {
  const others = [
    ...(rolling === 0 ? [] : [colors.cyan(`${rolling} rolling`)]),
    ...(degraded === 0 ? [] : [colors.yellow(`${degraded} degraded`)]),
    ...(empty === 0 ? [] : [colors.red(`${empty} empty`)]),
  ];
  return `${[colors.green(`${ok} ok`), ...others].join(', ')}; ${ready} of ${count(ready + notReady, 'endpoint')} ready`;
}

function writtenText({ writes, latencies, conflicts, refusals }: LiveStatus['statistics']): string {
  const errors = [
    ...(conflicts === 0 ? [] : [count(conflicts, 'conflict')]),
    ...(refusals === 0 ? [] : [colors.red(count(refusals, 'refused plan'))]),
  ];
  const written = count(writes.create + writes.update + writes.delete, 'object');
  const latency = latencies && `latency p50 ${formatDuration(latencies.p50)}, p99 ${formatDuration(latencies.p99)}`;
  return [written, ...(latency === undefined ? [] : [latency]), ...errors].join(', ');
}
