import type { ResourceName, StoredObject } from '@sluice/fake-apiserver';
import type { RawObject } from '@sluice/kubernetes';

/** The requests that the simulator sends. FakeApiServer implements it. */
export interface SimulatorApi {
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
