import type { Endpoints } from '../objects/endpoints.ts';
import type { Service } from '../objects/service.ts';
import { leaderAnnotation } from '../objects/well-known.ts';

/**
 * Whether the sweep at watcher start deletes these Endpoints: no Service has their name, and leader election does not
 * use them (D4).
 */
export function isLeftover(endpoints: Endpoints | undefined, service: Service | null | undefined): boolean {
  if (endpoints === undefined || service) return false;
  return !Object.hasOwn(endpoints.metadata.annotations ?? {}, leaderAnnotation);
}
