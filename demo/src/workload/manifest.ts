import type { ResourceName, StoredObject } from '@sluice/fake-apiserver';
import type { RawObject } from '@sluice/kubernetes';
import { asRecord } from '@sluice/platform';

/** Resources that a workload writes, all of the core group. */
export type MirroredResource = Exclude<ResourceName, 'events' | 'endpointslices'>;

export const managedBy = 'sluice-demo';
const managedByLabel = 'app.kubernetes.io/managed-by';
/** Query that selects what workloads have written. */
export const selector = `labelSelector=${encodeURIComponent(`${managedByLabel}=${managedBy}`)}`;

const kinds: Readonly<Record<MirroredResource, string>> = {
  namespaces: 'Namespace',
  nodes: 'Node',
  services: 'Service',
  pods: 'Pod',
  endpoints: 'Endpoints',
};

/** Path of an object, or of a resource in all namespaces. */
export function pathOf(resource: MirroredResource, namespace = '', name?: string): string {
  const within = namespace === '' ? '' : `namespaces/${namespace}/`;
  return `/api/v1/${within}${resource}${name === undefined ? '' : `/${name}`}`;
}

/** An object as server-side apply takes it; `status` is for the subresource. */
export function manifestOf(
  resource: MirroredResource,
  object: StoredObject,
): { readonly manifest: RawObject; readonly status?: RawObject } {
  const { apiVersion: _, kind: __, metadata, spec, status, ...rest } = object;
  const { name, namespace, labels, annotations, ownerReferences } = metadata;
  const identity = { apiVersion: 'v1', kind: kinds[resource], metadata: { name, ...(namespace && { namespace }) } };
  // Endpoints get no label: mirrored slices would copy it.
  const label = resource === 'endpoints' ? {} : { [managedByLabel]: managedBy };
  const about = { labels: { ...labels, ...label }, annotations, ownerReferences };
  const manifest = {
    ...identity,
    metadata: { ...identity.metadata, ...about },
    ...(spec !== undefined && { spec: resource === 'services' ? withoutAddresses(asRecord(spec)) : spec }),
    ...rest,
  };
  const hasStatus = resource === 'pods' || resource === 'nodes';
  return { manifest, ...(hasStatus && status !== undefined && { status: { ...identity, status: asRecord(status) } }) };
}

/** The API server allocates its own; a headless Service stays headless. */
function withoutAddresses({ clusterIP, clusterIPs: _, ...spec }: RawObject): RawObject {
  return clusterIP === 'None' ? { ...spec, clusterIP } : spec;
}
