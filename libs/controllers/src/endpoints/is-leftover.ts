import { type Endpoints, leaderAnnotation, type Service } from '@sluice/model';

/**
 * Whether the sweep at watcher start deletes these Endpoints: no Service has their name, and leader election does not
 * use them (D4).
 */
export function isLeftover(endpoints: Endpoints | undefined, service: Service | null | undefined): boolean {
  if (endpoints === undefined || service) return false;
  return !Object.hasOwn(endpoints.metadata.annotations ?? {}, leaderAnnotation);
}
