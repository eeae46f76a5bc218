import { meddleWithEndpoints } from '../differential/workload/endpoints-steps.ts';
import { repertoire } from '../differential/workload/repertoire.ts';
import { deleteService, toggleExternal, toggleSelector } from '../differential/workload/service-steps.ts';
import type { Repertoire, Step, World, WorldService } from '../differential/workload/world.ts';

const ofAny = (make: (world: World, service: WorldService) => Step | undefined) => (world: World) => {
  const service = world.pick(world.services.values());
  return service && make(world, service);
};

/** All that goes on in a cluster. Nobody compares two sides here, so what depends on the state before may come any time. */
export const churn: Repertoire = [
  ...repertoire,
  [3, ofAny(deleteService)],
  [2, ofAny(toggleSelector)],
  [1, ofAny(toggleExternal)],
  [1, ofAny(meddleWithEndpoints)],
];
