import type { Scenario } from './scenario.ts';
import { type RunOptions, type RunResult, simulate } from './simulation.ts';

/** Runs that a shrink may take. */
const mostRuns = 250;

/**
 * The smallest scenario found that still breaks the same invariant: with fewer events, clusters and partitions, and
 * without what the seed varies besides. `run` runs a scenario.
 */
export async function shrink(
  failed: RunResult,
  options: RunOptions = {},
  run: typeof simulate = simulate,
): Promise<RunResult> {
  const invariant = failed.violations[0]?.invariant;
  const { boundMs } = failed;
  let best = failed;
  let runs = 0;
  const attempt = async (scenario: Scenario): Promise<boolean> => {
    if (++runs > mostRuns) return false;
    const result = await run(scenario, { boundMs, ...options });
    if (result.violations[0]?.invariant !== invariant) return false;
    best = result;
    return true;
  };
  // What happened after the violation does not matter.
  await attempt({
    ...failed.scenario,
    events: failed.scenario.events.filter(({ atMs }) => atMs <= (failed.violations[0]?.atMs ?? 0)),
  });
  for (let size = Math.ceil(best.scenario.events.length / 2); size >= 1; size = size === 1 ? 0 : Math.ceil(size / 2)) {
    let hasShrunk = true;
    while (hasShrunk && runs < mostRuns) {
      hasShrunk = false;
      for (let at = best.scenario.events.length - size; at > -size && runs < mostRuns; at -= size) {
        const { events } = best.scenario;
        const kept = [...events.slice(0, Math.max(0, at)), ...events.slice(at + size)];
        if (kept.length < events.length && (await attempt({ ...best.scenario, events: kept }))) hasShrunk = true;
      }
      if (size > 1) break;
    }
  }
  const simpler: Partial<Scenario>[] = [
    { clusters: 1 },
    { partitions: 1 },
    { firstOffset: 0 },
    { recordBytes: null },
    { batchPeriodMs: 0 },
    { maxEndpointsPerSlice: 100 },
    { disabled: [] },
  ];
  for (const part of simpler) await attempt({ ...best.scenario, ...part });
  return best;
}
