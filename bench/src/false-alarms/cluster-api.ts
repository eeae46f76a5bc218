import type { RawObject } from '@sluice/kubernetes';

export type LoadedResource = 'endpoints' | 'namespaces' | 'nodes' | 'pods' | 'services';

/** Writes of the load, in their order for each object. */
export interface ClusterApi {
  /** Creates the object or replaces it. */
  put(resource: LoadedResource, object: RawObject): void;
  /** Running Pods first get a deletionTimestamp; `isFinal` removes a stopped one. An object that does not exist is ignored. */
  remove(resource: LoadedResource, namespace: string, name: string, isFinal?: boolean): void;
}
