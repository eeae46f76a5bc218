import type { Violation } from './audit/violation.ts';
import { commandOf, type Options } from './options.ts';
import type { Kind } from './schedule.ts';

/** An action that was performed. */
export interface PerformedAction {
  readonly kind: Kind;
  /** Time until the fleet caught up; undefined if nothing changed right after the action. */
  readonly recoveredMs: number | undefined;
}

export interface Report {
  readonly options: Options;
  readonly done: readonly PerformedAction[];
  /** Excludes the time spent waiting for convergence. */
  readonly ranMs: number;
  /** User requests that the API server accepted. */
  readonly changes: number;
  /** Sluice's requests that each cluster's API server accepted, and those that any rejected. */
  readonly writes: readonly number[];
  readonly rejected: number;
  readonly plans: number;
  /** How often a plan, commit or Outcome of a former owner was rejected. */
  readonly fenced: number;
  /** Processes that exited unexpectedly and were restarted. */
  readonly crashed: number;
  readonly convergencePoints: readonly { readonly afterActions: number; readonly ms: number }[];
  readonly violations: readonly Violation[];
  /** Directory with logs, plans and the audit log, if kept. */
  readonly evidence: string | undefined;
}

const violationKinds: readonly Violation['what'][] = [
  'lost change',
  'unplanned write',
  'crossed clusters',
  'applied twice',
  'out of order',
  'needless slice write',
  'endpoint wrongly removed',
  'process failed',
];
/** Violations printed in full; the JSON report has all. */
const maxViolations = 20;

/** Renders the report as text. Its table is valid Markdown. */
export function renderReport(report: Report): string {
  const { options, done, changes, writes, rejected, plans, fenced, crashed, convergencePoints, violations, evidence } =
    report;
  const kinds = [...new Set(done.map(({ kind }) => kind))].sort();
  const rows = kinds.map((kind) =>
    row(
      kind,
      done.filter((each) => each.kind === kind),
    ),
  );
  const convergenceTimes = convergencePoints.map(({ ms }) => ms);
  return [
    ...table([['action', 'times', 'recovery: median s', 'max s'], ...rows, row('all', done)]),
    '',
    `${done.length} actions in ${seconds(report.ranMs)} s, ${changes} changes (${(changes / (report.ranMs / 1000)).toFixed(1)} per second)`,
    serversOf(options),
    `${writes.join(' + ')} writes by ${plans} plans; ${rejected} rejected by the API server; former owners fenced ${fenced} times`,
    `${crashed} processes exited unexpectedly and were restarted`,
    `converged ${convergencePoints.length} times, after ${seconds(median(convergenceTimes))} s (median), ${seconds(Math.max(0, ...convergenceTimes))} s (max)`,
    violationKinds.map((what) => `${violations.filter((each) => each.what === what).length} × ${what}`).join(', '),
    `again: ${commandOf(options)}`,
    ...violations
      .slice(0, maxViolations)
      .map(({ what, where, evidence: why }) => `VIOLATION ${what}: ${where}: ${why}`),
    ...(violations.length > maxViolations ? [`and ${violations.length - maxViolations} more`] : []),
    ...(evidence === undefined ? [] : [`evidence: ${evidence}`]),
    '',
  ].join('\n');
}

/** The report as one JSON object. */
export function jsonReport(report: Report): string {
  const { options, done, ...rest } = report;
  return `${JSON.stringify({ ...rest, command: commandOf(options), options, actions: done })}\n`;
}

function serversOf({ clusters, bus, natsNodes, sentinel, upgradeFrom }: Options): string {
  const buses = { nats: natsNodes === 1 ? 'one NATS server' : `${natsNodes} NATS servers`, kafka: 'one Kafka broker' };
  const store = sentinel ? 'Redis with a replica and 3 sentinels' : 'one Redis';
  const versions = upgradeFrom === undefined ? '' : `, two versions of Sluice: this one and ${upgradeFrom}`;
  return `${clusters} ${clusters === 1 ? 'cluster' : 'clusters'}, ${buses[bus]}, ${store}${versions}`;
}

function row(title: string, done: readonly PerformedAction[]): readonly string[] {
  const times = done.flatMap(({ recoveredMs }) => recoveredMs ?? []);
  const figures = times.length === 0 ? ['–', '–'] : [seconds(median(times)), seconds(Math.max(...times))];
  return [title, String(done.length), ...figures];
}

function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  const [low = 0, high = 0] = [sorted[Math.floor((sorted.length - 1) / 2)], sorted[Math.ceil((sorted.length - 1) / 2)]];
  return (low + high) / 2;
}

const seconds = (ms: number): string => (ms / 1000).toFixed(2);

function table(rows: readonly (readonly string[])[]): string[] {
  const [head = []] = rows;
  const widths = head.map((_, column) => Math.max(...rows.map((cells) => (cells[column] ?? '').length)));
  const line = (cells: readonly string[]) =>
    `| ${cells.map((cell, i) => (i === 0 ? cell.padEnd(widths[i] ?? 0) : cell.padStart(widths[i] ?? 0))).join(' | ')} |`;
  const rule = `| ${widths.map((width, i) => (i === 0 ? '-'.repeat(width) : `${'-'.repeat(width - 1)}:`)).join(' | ')} |`;
  return [line(head), rule, ...rows.slice(1).map(line)];
}
