import type { ScenarioEvent } from './scenario.ts';
import type { SeedReport } from './seed-report.ts';
import type { RunResult } from './simulation.ts';
import { formatEntry } from './timeline.ts';
import type { Violation } from './violations.ts';

export const formatViolation = ({ invariant, atMs, what }: Violation): string =>
  `${invariant}, after ${(atMs / 1000).toFixed(1)} s: ${what}`;

/** What a failing seed broke, and what preceded it. */
export function formatFailure({ seed, violations, timeline }: SeedReport, flags: string): string {
  return [
    `seed ${seed} failed: ${violations.slice(0, 3).map(formatViolation).join('\n  ')}`,
    ...timeline.slice(-12).map((entry) => `  ${formatEntry(entry).slice(0, 200)}`),
    `  npm run simulate -- --seed ${seed}${flags} --trace`,
  ].join('\n');
}

/** The events of a shrunk run. */
export function formatShrunk({ scenario, violations }: RunResult): string {
  const { clusters, partitions, maxEndpointsPerSlice, recordBytes, disabled, events } = scenario;
  const settings = `clusters=${clusters} partitions=${partitions} maxEndpointsPerSlice=${maxEndpointsPerSlice} recordBytes=${recordBytes} disabled=${disabled.join() || 'none'}`;
  const [violation] = violations;
  return [
    `shrunk to ${events.length} events (${settings})`,
    ...events.map(formatEvent),
    ...(violation ? [`  ${formatViolation(violation)}`] : []),
  ].join('\n');
}

const formatEvent = ({ atMs, kind, seed }: ScenarioEvent): string =>
  `  ${(atMs / 1000).toFixed(3).padStart(9)}s ${kind} (${seed})`;
