import type { Results } from './results.ts';
import { phaseOf } from './summary.ts';

/** A write later than this was delayed: the generator or the machine could not keep up. */
const LATE_MILLISECONDS = 20;
/** CPU use of other programs, as a share of one processor, above which results are unreliable. */
const NOISE = 0.1;

/** Reasons why the results of these runs are unreliable. */
export function warnings({ runs }: Pick<Results, 'runs'>): readonly string[] {
  const found: string[] = [];
  for (const { controller, round, coldStart, rates } of runs) {
    const spans = [
      { what: 'cold start', cost: coldStart.cost },
      ...rates.map((result) => ({ what: phaseOf(result), cost: result.cost })),
    ];
    for (const { what, cost } of spans) {
      const noise = cost.cpuSeconds.others / cost.seconds;
      if (noise > NOISE) {
        const share = `${Math.round(noise * 100)} % of a processor`;
        found.push(`${controller}, round ${round}, ${what}: other programs used ${share}`);
      }
    }
    for (const result of rates) {
      const { load, slices, endpoints } = result;
      const at = `${controller}, round ${round}, ${phaseOf(result)}`;
      if (load.lateMs.p99 > LATE_MILLISECONDS) {
        found.push(`${at}: the load fell behind its plan, by ${load.lateMs.p99.toFixed(0)} ms (p99)`);
      }
      if (load.failed > 0) found.push(`${at}: ${load.failed} Pod writes failed`);
      for (const [where, arrival] of [
        ['EndpointSlices', slices],
        ['Endpoints', endpoints],
      ] as const) {
        if (arrival === undefined) continue;
        const { missing, cancelled } = arrival;
        if (missing > 0) found.push(`${at}: ${missing} flips never arrived in ${where}`);
        if (cancelled > 0)
          found.push(`${at}: ${cancelled} flips have no latency in ${where}: their Pods flipped again before`);
      }
    }
  }
  return found;
}
