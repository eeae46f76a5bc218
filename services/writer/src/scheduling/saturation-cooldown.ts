import type { Controller } from '@sluice/controllers';

/** Each millisecond that requests take too long adds this many to the cooldown. */
const factor = 50;
const maxMs = 2_000;

/**
 * How long, in milliseconds, a controller should leave a Service alone because its cluster's API server is saturated.
 * `excessMs`: by how much requests take longer than they would with spare capacity.
 *
 * Only Endpoints give way: they hold what slices hold, each write carries all addresses, and traffic follows slices.
 */
export function saturationCooldownMs(controller: Controller, excessMs: number): number {
  return controller === 'endpoints' ? Math.min(maxMs, Math.round(factor * excessMs)) : 0;
}
