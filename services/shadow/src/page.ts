import { formatDuration, printableLine, truncate } from '@sluice/process';
import colors from 'picocolors';
import type { ReportedDifference, ShadowReport } from './report.ts';
import type { Percentiles } from './samples.ts';

export interface PageSize {
  readonly width: number;
  readonly height: number;
}

/** Renders the current state in at most the given number of lines. */
export function renderPage(report: ShadowReport, { width, height }: PageSize): readonly string[] {
  const { services, clusters, differences, lasting } = report;
  const lines = [
    ...clusters.map(
      ({ name, version, server }) =>
        `${colors.bold(`Shadow mode: ${printableLine(name)}`)} (Kubernetes ${printableLine(version)}) at ${printableLine(server)}, read-only, running for ${formatDuration(report.ranMs)}`,
    ),
    '',
    `  Services     ${services.total}: ${colors.green(`${services.agree} agree`)}, ${services.waiting} waiting, ` +
      `${services.explained} explained, ${alarming(services.unexplained, 'unexplained')}`,
    `  decisions    ${report.decisions}; writes by upstream controllers: ${report.writes}`,
    `  ahead        ${spread(report.sooner)}, decided before the upstream controller's write`,
    `  behind       ${spread(report.later)}, decided after it`,
    `  differences  ${lasting.explained} explained, ${alarming(lasting.unexplained, 'unexplained')}; ` +
      `${lasting.resolved} resolved later by upstream controllers`,
    '',
    ...listed(differences, height - 8 - clusters.length),
  ];
  return lines.slice(0, Math.max(1, height)).map((line) => truncate(line, width));
}

const alarming = (count: number, what: string): string => (count === 0 ? `0 ${what}` : colors.red(`${count} ${what}`));

function spread(times: Percentiles | null): string {
  if (times === null) return 'never';
  const [p50, p99, max] = [times.p50, times.p99, times.max].map(formatDuration);
  return `${times.count} times: p50 ${p50}, p99 ${p99}, max ${max}`;
}

/** Unexplained differences first, two lines each, as many as fit. */
function listed(differences: readonly ReportedDifference[], room: number): readonly string[] {
  const order = (d: ReportedDifference) => (d.explanation === null ? 0 : 1);
  const sorted = [...differences].sort((a, b) => order(a) - order(b) || a.since.localeCompare(b.since));
  const fit = sorted.length * 2 <= room ? sorted.length : Math.max(0, Math.floor((room - 1) / 2));
  const shown = sorted.slice(0, fit).flatMap((difference) => {
    const { namespace, service, resource, explanation, lines } = difference;
    const what = resource === 'endpoints' ? 'Endpoints' : 'EndpointSlices of';
    const why =
      explanation === null ? colors.red('unexplained') : colors.dim(`${explanation.rules}: ${explanation.why}`);
    return [
      `  ${what} ${printableLine(`${namespace}/${service}`)}  ${why}`,
      colors.dim(`      ${printableLine(lines[0] ?? '')}`),
    ];
  });
  const more = sorted.length - fit;
  return more > 0 ? [...shown, colors.dim(`  and ${more} more`)] : shown;
}
