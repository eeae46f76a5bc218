import { endpointsWriter } from '@sluice/controllers';
import type { PlannedMutations } from '@sluice/messages';

interface Cooldown {
  /** Each millisecond that requests take too long adds this many to the cooldown. */
  readonly factor: number;
  readonly maxMs: number;
}

const ofEndpoints: Cooldown = { factor: 50, maxMs: 2_000 };
/** A larger factor delays changes on a slightly overloaded server; a longer cooldown leaves an overloaded one idle at times (ADR 0023). */
const ofSlices: Cooldown = { factor: 2, maxMs: 500 };

/**
 * How long, in milliseconds, the controller of a plan should leave its Service alone because the API server of the cluster is saturated.
 * `excessMs`: by how much requests take longer than they would with spare capacity.
 *
 * A plan that waits for a slot does not include what changes meanwhile, so it is better to wait before the decision. Endpoints give way to
 * slices: they hold what slices hold, each write carries all addresses, and traffic follows slices.
 * Only updates count: at a start, the creates of all Services wait for each other, although no Service changes often.
 */
export function saturationCooldownMs(
  { controller, groups }: Pick<PlannedMutations, 'controller' | 'groups'>,
  excessMs: number,
): number {
  const { factor, maxMs } = controller === endpointsWriter ? ofEndpoints : ofSlices;
  const updates = groups.some(({ mutations }) => mutations.some(({ verb }) => verb === 'update'));
  return updates ? Math.min(maxMs, Math.round(factor * excessMs)) : 0;
}
