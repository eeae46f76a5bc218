import type { Violation } from './accounts/violation.ts';
import { commandOf, type Options } from './options.ts';
import type { Kind } from './schedule.ts';

/** What was done of one kind. */
export interface Done {
  readonly kind: Kind;
  /** Milliseconds until the fleet did its work again; undefined where no change was made just after it. */
  readonly healedMs: number | undefined;
}

export interface Report {
  readonly options: Options;
  readonly done: readonly Done[];
  /** Without the points of rest. */
  readonly ranMs: number;
  /** Requests of the user that the API server took. */
  readonly changes: number;
  /** Requests of Sluice that the API server took, and refused. */
  readonly writes: number;
  readonly refused: number;
  readonly plans: number;
  /** How often a plan, a commit or an Outcome of a former owner was turned away. */
  readonly fenced: number;
  /** Processes that ended though nobody told them to, and were started again. */
  readonly ended: number;
  readonly restPoints: readonly { readonly afterActions: number; readonly ms: number }[];
  readonly violations: readonly Violation[];
  /** Where logs, plans and the audit log are, if they were kept. */
  readonly evidence: string | undefined;
}

const counted: readonly Violation['what'][] = [
  'lost change',
  'unaccounted write',
  'applied twice',
  'out of order',
  'needless slice',
  'wanted endpoint taken away',
  'process failed',
];
/** Violations told in full; the others are in the JSON. */
const told = 20;

/** The report for people; its table is Markdown as well. */
export function renderReport(report: Report): string {
  const { options, done, changes, writes, refused, plans, fenced, ended, restPoints, violations, evidence } = report;
  const kinds = [...new Set(done.map(({ kind }) => kind))].sort();
  const rows = kinds.map((kind) =>
    row(
      kind,
      done.filter((each) => each.kind === kind),
    ),
  );
  const rests = restPoints.map(({ ms }) => ms);
  return [
    ...table([['action', 'times', 'healed: median s', 'max s'], ...rows, row('all', done)]),
    '',
    `${done.length} actions in ${seconds(report.ranMs)} s, ${changes} changes (${(changes / (report.ranMs / 1000)).toFixed(1)} a second), bus ${options.bus}`,
    `${writes} writes by ${plans} plans; ${refused} refused by the API server; ${fenced} times a former owner was turned away`,
    `${ended} processes ended without being told to and were started again`,
    `${restPoints.length} points of rest, right after ${seconds(median(rests))} s (median), ${seconds(Math.max(0, ...rests))} s (max)`,
    counted.map((what) => `${violations.filter((each) => each.what === what).length} × ${what}`).join(', '),
    `again: ${commandOf(options)}`,
    ...violations.slice(0, told).map(({ what, where, evidence: why }) => `VIOLATION ${what}: ${where}: ${why}`),
    ...(violations.length > told ? [`and ${violations.length - told} more`] : []),
    ...(evidence === undefined ? [] : [`evidence: ${evidence}`]),
    '',
  ].join('\n');
}

/** The same as one JSON object. */
export function jsonReport(report: Report): string {
  const { options, done, ...rest } = report;
  return `${JSON.stringify({ ...rest, command: commandOf(options), options, actions: done })}\n`;
}

function row(title: string, done: readonly Done[]): readonly string[] {
  const times = done.flatMap(({ healedMs }) => healedMs ?? []);
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
