import type { PlannedMutations } from '@sluice/messages';

/** Each millisecond that requests take too long adds this many to the cooldown. */
const factor = 50;
const maxMs = 2_000;

/**
 * How long, in milliseconds, the controller of a plan should leave its Service alone because the API server of the cluster is saturated.
 * `excessMs`: by how much requests take longer than they would with spare capacity.
 *
 * Only updates of Endpoints give way: Endpoints hold what slices hold, each write carries all addresses, and traffic follows slices.
 * Creates do not count: at a start, the creates of all Services wait for each other, although no Service changes often.
 */
export function saturationCooldownMs(
  { controller, groups }: Pick<PlannedMutations, 'controller' | 'groups'>,
  excessMs: number,
): number {
  if (controller !== 'endpoints') return 0;
  const updates = groups.some(({ mutations }) => mutations.some(({ verb }) => verb === 'update'));
  return updates ? Math.min(maxMs, Math.round(factor * excessMs)) : 0;
}
