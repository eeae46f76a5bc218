import { hasLayersOff, isLossy, repaired, type Scenario } from './scenario.ts';

/** How long a Service may be wrong after the last disturbance, in milliseconds. */
const stalenessBounds = { quiet: 2_500, lossless: 25_000, detected: 45_000, lossy: 130_000 };

export function boundOf(scenario: Scenario): number {
  // Without these, digests find what is wrong.
  if (hasLayersOff(scenario, ...repaired)) return stalenessBounds.lossy;
  if (isLossy(scenario)) return stalenessBounds[scenario.disabled.includes('digests') ? 'detected' : 'lossy'];
  const isQuiet = scenario.events.every(({ kind }) => kind === 'user' || kind === 'steady');
  return isQuiet ? stalenessBounds.quiet : stalenessBounds.lossless;
}
