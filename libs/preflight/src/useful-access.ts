import type { Access } from './access.ts';
import type { ClusterWork } from './needed-access.ts';

/** A permission without which Sluice works, but not as well, or not in every cluster. */
export interface UsefulAccess {
  readonly access: Access;
  /** What is missing then. */
  readonly without: string;
}

const core = (verb: Access['verb'], resource: string, subresource?: string): Access => ({
  ...{ verb, group: '', resource },
  ...(subresource !== undefined && { subresource }),
});

const ownerReferences = 'with OwnerReferencesPermissionEnforcement, the API server rejects EndpointSlices';
const rivals = 'Sluice cannot detect competing controllers';

const ofWriter: readonly UsefulAccess[] = [
  ...(['create', 'patch'] as const).map((verb) => ({
    access: core(verb, 'events'),
    without: 'Sluice records no Events',
  })),
  {
    access: core('create', 'endpoints', 'restricted'),
    without: 'some clusters reject Endpoints with addresses of the Pod and Service networks',
  },
  { access: core('update', 'services', 'finalizers'), without: ownerReferences },
  { access: core('update', 'endpoints', 'finalizers'), without: ownerReferences },
  { access: core('list', 'endpoints'), without: rivals },
  { access: { verb: 'list', group: 'discovery.k8s.io', resource: 'endpointslices' }, without: rivals },
  { access: { ...core('list', 'pods'), namespace: 'kube-system' }, without: rivals },
  {
    access: {
      ...{ verb: 'get', group: 'coordination.k8s.io', resource: 'leases' },
      ...{ namespace: 'kube-system', name: 'kube-controller-manager' },
    },
    without: rivals,
  },
];

/** What a role had better be allowed besides what it needs. */
export function usefulAccess(work: readonly ClusterWork[]): readonly UsefulAccess[] {
  return work.includes('write') ? ofWriter : [];
}
