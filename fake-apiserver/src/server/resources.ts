/** The resources that the fake API server stores. Events are stored as core/v1. */
export type ResourceName = 'namespaces' | 'nodes' | 'services' | 'pods' | 'endpoints' | 'endpointslices' | 'events';

/** Properties of a resource. */
export interface ResourceInfo {
  readonly name: ResourceName;
  readonly kind: string;
  readonly singular: string;
  readonly shortNames: readonly string[];
  /** Empty for the core group. */
  readonly group: string;
  readonly version: string;
  readonly namespaced: boolean;
  readonly statusSubresource: boolean;
  /** Updating a missing object creates it (K7). */
  readonly createOnUpdate: boolean;
}

const core = { group: '', version: 'v1', namespaced: true, statusSubresource: false, createOnUpdate: false };

export const resources: Readonly<Record<ResourceName, ResourceInfo>> = {
  namespaces: {
    ...core,
    name: 'namespaces',
    kind: 'Namespace',
    singular: 'namespace',
    shortNames: ['ns'],
    namespaced: false,
    statusSubresource: true,
  },
  nodes: {
    ...core,
    name: 'nodes',
    kind: 'Node',
    singular: 'node',
    shortNames: ['no'],
    namespaced: false,
    statusSubresource: true,
  },
  services: {
    ...core,
    name: 'services',
    kind: 'Service',
    singular: 'service',
    shortNames: ['svc'],
    statusSubresource: true,
    createOnUpdate: true,
  },
  pods: { ...core, name: 'pods', kind: 'Pod', singular: 'pod', shortNames: ['po'], statusSubresource: true },
  endpoints: {
    ...core,
    name: 'endpoints',
    kind: 'Endpoints',
    singular: 'endpoints',
    shortNames: ['ep'],
    createOnUpdate: true,
  },
  endpointslices: {
    ...core,
    name: 'endpointslices',
    kind: 'EndpointSlice',
    singular: 'endpointslice',
    shortNames: [],
    group: 'discovery.k8s.io',
  },
  events: { ...core, name: 'events', kind: 'Event', singular: 'event', shortNames: ['ev'] },
};

export const resourceNames: readonly ResourceName[] = Object.values(resources).map((info) => info.name);

export function isResourceName(text: string): text is ResourceName {
  return Object.hasOwn(resources, text);
}

/** `v1`, or `discovery.k8s.io/v1`. */
export function apiVersionOf(info: ResourceInfo): string {
  return info.group === '' ? info.version : `${info.group}/${info.version}`;
}

/** `endpoints`, or `endpointslices.discovery.k8s.io`: the name of a resource or kind in error messages. */
export function qualified(info: ResourceInfo, as: 'resource' | 'kind' = 'resource'): string {
  const noun = as === 'kind' ? info.kind : info.name;
  return info.group === '' ? noun : `${noun}.${info.group}`;
}
