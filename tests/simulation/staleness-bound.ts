import type { InjectedFaults } from './injected-faults.ts';
import { hasLayersOff, repaired, type Scenario } from './scenario.ts';

/** How long a Service may be wrong after the last disturbance, in milliseconds. */
const stalenessBounds = { quiet: 2_500, lossless: 25_000, detected: 45_000, lossy: 130_000 };

/** After the faults that were injected so far. */
export function boundAfter(faults: InjectedFaults, scenario: Scenario): number {
  // Without these, digests find what is wrong.
  if (hasLayersOff(scenario, ...repaired)) return stalenessBounds.lossy;
  if (faults.areLossy) return stalenessBounds[scenario.disabled.includes('digests') ? 'detected' : 'lossy'];
  return faults.hasAny ? stalenessBounds.lossless : stalenessBounds.quiet;
}
