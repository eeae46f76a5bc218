import type { Mutation } from '@sluice/controllers';
import type { PlannedMutations } from '@sluice/messages';

/** Milliseconds for each address: an API server takes a tenth of that of a processor to store it. */
const msPerAddress = 0.25;
/** Fewer are no burden. */
const fewAddresses = 100;

/** A plan that was carried out within so many milliseconds shows an API server with time left. */
const promptMs = 20;
const longestForSlownessMs = 75;

/**
 * How long a controller leaves a Service alone after a plan that took `tookMs` from its decision to its Outcome, in
 * milliseconds. What changes meanwhile is one plan then; the first change after a rest is written at once.
 *
 * Endpoints rest by their size: each write carries all addresses, a thousand as easily as ten, while slices carry a hundred
 * at most; under a stream of changes they would cost more than all else together. And everything rests by how long its
 * plan took: where the API server is at its limit, a write for each change only makes the others wait.
 */
export function writeCooldownMs(plan: Pick<PlannedMutations, 'controller' | 'groups'>, tookMs: number): number {
  const forSlowness = Math.min(longestForSlownessMs, Math.max(0, tookMs - promptMs));
  return Math.max(forSlowness, restForSize(plan));
}

function restForSize({ controller, groups }: Pick<PlannedMutations, 'controller' | 'groups'>): number {
  if (controller !== 'endpoints') return 0;
  const written = groups.reduce((sum, { mutations }) => mutations.reduce((n, m) => n + addressesIn(m), sum), 0);
  return written < fewAddresses ? 0 : Math.round(written * msPerAddress);
}

function addressesIn(mutation: Mutation): number {
  if (mutation.verb === 'delete' || mutation.resource !== 'endpoints') return 0;
  return (mutation.object.subsets ?? []).reduce(
    (sum, { addresses, notReadyAddresses }) => sum + (addresses?.length ?? 0) + (notReadyAddresses?.length ?? 0),
    0,
  );
}
