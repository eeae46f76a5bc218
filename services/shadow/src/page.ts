import { stripVTControlCharacters } from 'node:util';
import { formatDuration, type PageSize, printableLine, truncate, wrap } from '@sluice/platform/process';
import colors from 'picocolors';
import type { ReportedDifference, ShadowReport } from './report.ts';
import type { Percentiles } from './samples.ts';

/** Renders the current state in at most the given number of lines; long lines wrap. */
export function renderPage(report: ShadowReport, { width, height }: PageSize): readonly string[] {
  const { services, clusters, differences, lasting } = report;
  const head = [
    ...hanging(
      '',
      `${colors.bold(`Shadow mode: ${clustersText(clusters)}`)}, read-only, running for ${formatDuration(report.ranMs)}`,
      width,
    ),
    '',
    ...hanging(
      '  Services     ',
      `${services.total}: ${colors.green(`${services.agree} agree`)}, ${services.waiting} waiting, ` +
        `${services.explained} explained, ${alarming(services.unexplained, 'unexplained')}`,
      width,
    ),
    ...hanging('  decisions    ', `${report.decisions}; ${writesText(report.writes)}`, width),
    ...hanging('  first        ', spread('first', report.sooner), width),
    ...hanging('  last         ', spread('last', report.later), width),
    ...hanging(
      '  differences  ',
      `${lasting.explained} explained, ${alarming(lasting.unexplained, 'unexplained')}; ` +
        `${lasting.resolved} resolved later by upstream controllers`,
      width,
    ),
    '',
  ];
  const lines = [
    ...head,
    ...listed(differences, { width, height: height - head.length, hasMany: clusters.length > 1 }),
  ];
  return lines.slice(0, Math.max(1, height)).map((line) => truncate(line, width));
}

/** More are counted. */
const maxNamed = 3;

function clustersText(clusters: ShadowReport['clusters']): string {
  if (clusters.length > maxNamed) return `${clusters.length} clusters`;
  const texts = clusters.map(({ name, version, server }) => `${name} (Kubernetes ${version}) at ${server}`);
  return printableLine(texts.join(', '));
}

/** Below this width, text after a first column starts on the next line. */
const minRoom = 30;

/** Text after a first column, wrapped with a hanging indent. A longer word is broken, because the page is redrawn in place. */
function hanging(first: string, text: string, width: number, paint = (line: string): string => line): string[] {
  const margin = width - first.length >= minRoom ? ' '.repeat(first.length) : '    ';
  const room = Math.max(1, width - margin.length);
  const lines = wrap(text, room).flatMap((line) => broken(line, room));
  if (margin.length === first.length) return lines.map((line, i) => `${i === 0 ? first : margin}${paint(line)}`);
  return [first.trimEnd(), ...lines.map((line) => `${margin}${paint(line)}`)];
}

function broken(line: string, room: number): readonly string[] {
  if (stripVTControlCharacters(line).length <= room) return [line];
  return Array.from({ length: Math.ceil(line.length / room) }, (_, i) => line.slice(i * room, (i + 1) * room));
}

const alarming = (count: number, what: string): string => (count === 0 ? `0 ${what}` : colors.red(`${count} ${what}`));

function writesText(writes: number): string {
  if (writes > 0) return `other controllers wrote ${writes === 1 ? 'once' : `${writes} times`}`;
  return colors.yellow('no other controller has written yet, so nothing is compared');
}

function spread(place: 'first' | 'last', times: Percentiles | null): string {
  if (times === null) return `Sluice was never ${place}`;
  const [p50, p99, max] = [times.p50, times.p99, times.max].map(formatDuration);
  const count = times.count === 1 ? 'once' : `${times.count} times`;
  return `Sluice was ${place} ${count}, by ${p50} (p50), ${p99} (p99), ${max} (max)`;
}

/** The differences that fit, unexplained ones first. */
function listed(
  differences: readonly ReportedDifference[],
  { width, height, hasMany }: PageSize & { readonly hasMany: boolean },
): readonly string[] {
  const order = (d: ReportedDifference) => (d.explanation === null ? 0 : 1);
  const sorted = [...differences].sort((a, b) => order(a) - order(b) || a.since.localeCompare(b.since));
  const blocks = sorted.map((difference) => describe(difference, { width, hasMany }));
  const shown: string[] = [];
  for (const [i, block] of blocks.entries()) {
    const isLast = i === blocks.length - 1;
    if (shown.length + block.length + (isLast ? 0 : 1) > height)
      return [...shown, colors.dim(`  and ${blocks.length - i} more`)];
    shown.push(...block);
  }
  return shown;
}

function describe(
  { cluster, namespace, service, resource, explanation, lines, causes }: ReportedDifference,
  { width, hasMany }: { readonly width: number; readonly hasMany: boolean },
) {
  const what = resource === 'endpoints' ? 'Endpoints' : 'EndpointSlices of';
  const why = explanation === null ? colors.red('unexplained') : colors.dim(`${explanation.rules}: ${explanation.why}`);
  return [
    ...hanging(
      '  ',
      `${what} ${printableLine(`${namespace}/${service}${hasMany ? ` in ${cluster}` : ''}`)}: ${why}`,
      width,
    ),
    ...hanging('      ', `there ≠ Sluice's: ${printableLine(lines[0] ?? '')}`, width, colors.dim),
    ...hanging('      ', `because ${printableLine(causes.join('; ') || 'unknown')}`, width, colors.dim),
  ];
}
