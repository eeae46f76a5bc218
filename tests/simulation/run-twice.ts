import type { Scenario } from './scenario.ts';
import { type RunOptions, type RunResult, simulate } from './simulation.ts';
import { formatEntry } from './timeline.ts';

/** Name of the invariant that a seed decides everything. Without it, a failure cannot be repeated. */
export const sameTrace = 'one trace per seed';

/** Runs a scenario twice, and compares everything that happens. The result of the first run, with a violation if the second one differs. */
export async function runTwice(scenario: Scenario, options: RunOptions = {}): Promise<RunResult> {
  const whole = { ...options, timeline: Number.MAX_SAFE_INTEGER };
  const first = await simulate(scenario, whole);
  const traces = [traceOf(first), traceOf(await simulate(scenario, whole))] as const;
  const timeline = first.timeline.slice(-(options.timeline ?? 40));
  const what = difference(...traces);
  if (what === undefined) return { ...first, timeline };
  return { ...first, timeline, violations: [{ invariant: sameTrace, atMs: 0, what }, ...first.violations] };
}

function traceOf({ timeline, violations, virtualMs, calls }: RunResult): readonly string[] {
  const end = `end after ${virtualMs} ms, ${calls} calls, ${JSON.stringify(violations)}`;
  return [...timeline.map(formatEntry), end];
}

/** The first entry that differs; undefined if the traces are equal. */
export function difference(first: readonly string[], second: readonly string[]): string | undefined {
  const at = first.findIndex((entry, i) => entry !== second[i]);
  if (at < 0 && first.length === second.length) return undefined;
  const index = at < 0 ? first.length : at;
  return `entry ${index + 1} is "${first[index] ?? 'missing'}" in the first run and "${second[index] ?? 'missing'}" in the second`;
}
