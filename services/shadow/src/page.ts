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
    `  decisions    ${report.decisions}; ${writesText(report.writes)}`,
    `  first        ${spread('first', report.sooner)}`,
    `  last         ${spread('last', report.later)}`,
    `  differences  ${lasting.explained} explained, ${alarming(lasting.unexplained, 'unexplained')}; ` +
      `${lasting.resolved} resolved later by upstream controllers`,
    '',
    ...listed(differences, height - 8 - clusters.length),
  ];
  return lines.slice(0, Math.max(1, height)).map((line) => truncate(line, width));
}

const alarming = (count: number, what: string): string => (count === 0 ? `0 ${what}` : colors.red(`${count} ${what}`));

function writesText(writes: number): string {
  if (writes > 0) return `other controllers wrote ${writes} times`;
  return colors.yellow('no other controller has written yet, so nothing is compared');
}

function spread(place: 'first' | 'last', times: Percentiles | null): string {
  if (times === null) return `Sluice was never ${place}`;
  const [p50, p99, max] = [times.p50, times.p99, times.max].map(formatDuration);
  const count = times.count === 1 ? 'once' : `${times.count} times`;
  return `Sluice was ${place} ${count}, by ${p50} (p50), ${p99} (p99), ${max} (max)`;
}

/** Unexplained differences first, three lines each, as many as fit. */
function listed(differences: readonly ReportedDifference[], room: number): readonly string[] {
  const order = (d: ReportedDifference) => (d.explanation === null ? 0 : 1);
  const sorted = [...differences].sort((a, b) => order(a) - order(b) || a.since.localeCompare(b.since));
  const fit = sorted.length * 3 <= room ? sorted.length : Math.max(0, Math.floor((room - 1) / 3));
  const shown = sorted.slice(0, fit).flatMap((difference) => {
    const { namespace, service, resource, explanation, lines, causes } = difference;
    const what = resource === 'endpoints' ? 'Endpoints' : 'EndpointSlices of';
    const why =
      explanation === null ? colors.red('unexplained') : colors.dim(`${explanation.rules}: ${explanation.why}`);
    return [
      `  ${what} ${printableLine(`${namespace}/${service}`)}  ${why}`,
      colors.dim(`      there ≠ Sluice's: ${printableLine(lines[0] ?? '')}`),
      colors.dim(`      because ${printableLine(causes.join('; ') || 'unknown')}`),
    ];
  });
  const more = sorted.length - fit;
  return more > 0 ? [...shown, colors.dim(`  and ${more} more`)] : shown;
}
