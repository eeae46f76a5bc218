import type { RawObject } from '@sluice/kubernetes';
import type { StoredObject } from '../api-server/object.ts';
import type { ResourceName } from '../api-server/resources.ts';

/** All that a simulated world does to its cluster: what users, the scheduler and kubelets do. SimulatedApiServer is one. */
export interface WorldApi {
  create(resource: ResourceName, object: RawObject): unknown;
  patch(
    resource: ResourceName,
    namespace: string,
    name: string,
    patch: RawObject,
    options?: { readonly subresource?: 'status' },
  ): unknown;
  delete(
    resource: ResourceName,
    namespace: string,
    name: string,
    options?: { readonly gracePeriodSeconds?: number },
  ): unknown;
  list(resource: ResourceName): { readonly items: readonly StoredObject[] };
}
