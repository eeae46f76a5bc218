import { countAddresses, type Mutation } from '@sluice/controllers';
import type { PlannedMutations } from '@sluice/messages';

/** An API server needs a tenth of this CPU time to store an address. */
const msPerAddress = 0.25;
/** Fewer addresses are no load. */
const minAddresses = 100;

/** A plan that is applied within this time shows an API server with spare capacity. */
const promptMs = 20;
const maxForSlownessMs = 75;

/** Endpoints that take longer than this to write wait behind other writes: the API server is saturated. */
const saturatedMs = 50;
/** From there on, each millisecond adds this many to the cooldown, so that writes of Endpoints are the first to become fewer. */
const endpointsFactor = 20;
const maxForSaturationMs = 2_000;

/** At least the longest cooldown of any Service: that of a thousand addresses in several groups of ports is shorter. */
export const maxCooldownMs = maxForSaturationMs;

/**
 * How long, in milliseconds, a controller leaves a Service alone after a plan that took `tookMs` from decision to Outcome.
 * Changes that arrive meanwhile become one plan; the first change after the cooldown is written at once (ADR 0040).
 *
 * For Endpoints it depends on size: each write carries all addresses, whereas a slice carries a hundred at most. For
 * everything it depends on how long the plan took: an API server at its limit only gets slower with a write per change.
 * Endpoints give way to slices, because traffic follows slices.
 */
export function writeCooldownMs(plan: Pick<PlannedMutations, 'controller' | 'groups'>, tookMs: number): number {
  const forSlowness = Math.min(maxForSlownessMs, Math.max(0, tookMs - promptMs));
  if (plan.controller !== 'endpoints') return forSlowness;
  const forSize = cooldownForSize(plan);
  // Large Endpoints take longer by themselves.
  const forSaturation = Math.min(maxForSaturationMs, endpointsFactor * (tookMs - saturatedMs - forSize));
  return Math.max(forSlowness, forSaturation, forSize);
}

function cooldownForSize({ groups }: Pick<PlannedMutations, 'groups'>): number {
  const written = groups.reduce((sum, { mutations }) => mutations.reduce((n, m) => n + addressesIn(m), sum), 0);
  return written < minAddresses ? 0 : Math.round(written * msPerAddress);
}

function addressesIn(mutation: Mutation): number {
  if (mutation.verb === 'delete' || mutation.resource !== 'endpoints') return 0;
  return countAddresses(mutation.object.subsets ?? []);
}
