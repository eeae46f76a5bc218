import type { Resource } from './cluster.ts';

interface ResourceInfo {
  /** Empty for the core group. */
  readonly group: string;
  readonly version: string;
  readonly kind: string;
  /** Path of the group and version. */
  readonly path: string;
}

const core = (kind: string): ResourceInfo => ({ group: '', version: 'v1', kind, path: '/api/v1' });

export const resourceInfo: Readonly<Record<Resource, ResourceInfo>> = {
  services: core('Service'),
  pods: core('Pod'),
  nodes: core('Node'),
  endpoints: core('Endpoints'),
  endpointslices: {
    group: 'discovery.k8s.io',
    version: 'v1',
    kind: 'EndpointSlice',
    path: '/apis/discovery.k8s.io/v1',
  },
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
  return `${resourceInfo[resource].path}/${resource}`;
}

/** Path of a resource in one namespace, or of one object. `namespace` is ignored for Nodes. */
export function objectPath(resource: Resource, namespace: string, name?: string): string {
  const collection =
    resource === 'nodes'
      ? collectionPath(resource)
      : `${resourceInfo[resource].path}/namespaces/${encodeURIComponent(namespace)}/${resource}`;
  return name === undefined ? collection : `${collection}/${encodeURIComponent(name)}`;
}
