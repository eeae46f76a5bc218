import type { Violation } from '../audit/violation.ts';

/** What happened from one replacement of a worker to the next. */
export interface UpgradeStep {
  readonly what: string;
  /** The versions of the workers after it. */
  readonly fleet: string;
  /** The longest time in which a partition or cluster had no owner that worked on it. */
  readonly unownedMs: number;
  /** Measured changes of Pods. */
  readonly changes: number;
  /** From SIGTERM until all workers were members and everything had an owner again; undefined if none was replaced. */
  readonly replacedMs: number | undefined;
  /** Time until the slowest of them was visible in an EndpointSlice. */
  readonly slowestMs: number;
}

export interface UpgradeViolation extends Omit<Violation, 'what'> {
  readonly what: Violation['what'] | 'unreadable message' | 'parked' | 'no owner' | 'error logged';
}

export interface UpgradeReport {
  readonly steps: readonly UpgradeStep[];
  /** Changes of all objects. */
  readonly changes: number;
  /** Accepted writes of the fleet. */
  readonly writes: number;
  readonly violations: readonly UpgradeViolation[];
  /** The directory with the logs, if it is kept. */
  readonly evidence: string | undefined;
}

const maxViolations = 40;

export function renderUpgrade({ steps, changes, writes, violations, evidence }: UpgradeReport): string {
  const rows = [
    ['step', 'workers', 'replaced: s', 'no owner: s', 'changes', 'slowest: s'],
    ...steps.map(({ what, fleet, replacedMs, unownedMs, changes: measured, slowestMs }) => [
      ...[
        what,
        fleet,
        replacedMs === undefined ? '' : seconds(replacedMs),
        seconds(unownedMs),
        String(measured),
        seconds(slowestMs),
      ],
    ]),
  ];
  const widths = (rows[0] ?? []).map((_, column) => Math.max(...rows.map((cells) => (cells[column] ?? '').length)));
  const failed = violations.length > 0 ? 1 : 0;
  return [
    ...rows.map((cells) =>
      cells.map((cell, i) => (i < 2 ? cell.padEnd(widths[i] ?? 0) : cell.padStart(widths[i] ?? 0))).join('  '),
    ),
    '',
    `${changes} changes, ${writes} writes, ${violations.length} violations`,
    ...violations
      .slice(0, maxViolations)
      .map(({ what, where, evidence: why }) => `VIOLATION ${what}: ${where}: ${why}`),
    ...(violations.length > maxViolations ? [`and ${violations.length - maxViolations} more`] : []),
    ...(evidence === undefined ? [] : [`evidence: ${evidence}`]),
    `${1 - failed} passed, ${failed} failed, 0 skipped`,
    '',
  ].join('\n');
}

const seconds = (ms: number): string => (ms / 1_000).toFixed(2);
