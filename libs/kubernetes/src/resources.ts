import type { Resource } from './cluster.ts';

interface ResourceInfo {
  /** Empty for the core group. */
  readonly group: string;
  readonly version: string;
  readonly kind: string;
}

const core = (kind: string): ResourceInfo => ({ group: '', version: 'v1', kind });

export const resourceInfo: Readonly<Record<Resource, ResourceInfo>> = {
  services: core('Service'),
  pods: core('Pod'),
  nodes: core('Node'),
  endpoints: core('Endpoints'),
  endpointslices: { group: 'discovery.k8s.io', version: 'v1', kind: 'EndpointSlice' },
};

/** Empty for the core group. */
export function apiGroup(resource: Resource): string {
  return resourceInfo[resource].group;
}

export function apiVersion(resource: Resource): string {
  const { group, version } = resourceInfo[resource];
  return group === '' ? version : `${group}/${version}`;
}

/** Path of a resource in all namespaces. */
export function collectionPath(resource: Resource): string {
  return `${groupPath(resource)}/${resource}`;
}

/** Path of a resource in one namespace, or of one object. `namespace` is ignored for Nodes. */
export function objectPath(resource: Resource, namespace: string, name?: string): string {
  const collection =
    resource === 'nodes'
      ? collectionPath(resource)
      : `${groupPath(resource)}/namespaces/${encodeURIComponent(namespace)}/${resource}`;
  return name === undefined ? collection : `${collection}/${encodeURIComponent(name)}`;
}

function groupPath(resource: Resource): string {
  return resourceInfo[resource].group === '' ? '/api/v1' : `/apis/${apiVersion(resource)}`;
}
