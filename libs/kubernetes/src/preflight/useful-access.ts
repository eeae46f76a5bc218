import { allControllers, descriptorOf, type ReadResource } from '@sluice/controllers';
import type { Controller, WrittenResource } from '@sluice/model';
import type { Access } from './access.ts';
import type { ClusterWork } from './needed-access.ts';

/** A permission that Sluice can work without, with limits. */
export interface UsefulAccess {
  readonly access: Access;
  /** What does not work without it. */
  readonly without: string;
  /** Without it, Sluice serves the cluster only with `--take-over`. */
  readonly refused?: boolean;
  /** Only for controllers that write this, or decide from it. Default: for all. */
  readonly writes?: WrittenResource;
  readonly reads?: ReadResource;
}

const core = (verb: Access['verb'], resource: string, subresource?: string): Access => ({
  verb,
  group: '',
  resource,
  ...(subresource !== undefined && { subresource }),
});

const ownerReferences = 'with OwnerReferencesPermissionEnforcement, the API server rejects EndpointSlices';
const undetected =
  'Sluice cannot rule out competing controllers, and then writes only with --take-over, unless it sees the flags of kube-controller-manager';

const claimAccess = (name: string, without: string, refused: boolean): readonly UsefulAccess[] =>
  (['get', 'update'] as const).map((verb) => ({
    access: { ...{ verb, group: 'coordination.k8s.io', resource: 'leases' }, ...{ namespace: 'kube-system', name } },
    without,
    refused,
  }));

const writerAccess: readonly UsefulAccess[] = [
  ...(['create', 'patch'] as const).map((verb) => ({
    access: core(verb, 'events'),
    without: 'Sluice records no Events',
  })),
  {
    access: core('create', 'endpoints', 'restricted'),
    without: 'some clusters reject Endpoints with addresses of the Pod and Service networks',
    writes: 'endpoints',
  },
  { access: core('update', 'services', 'finalizers'), without: ownerReferences },
  { access: core('update', 'endpoints', 'finalizers'), without: ownerReferences, reads: 'endpoints' },
  { access: core('list', 'endpoints'), without: undetected, writes: 'endpoints' },
  {
    access: { verb: 'list', group: 'discovery.k8s.io', resource: 'endpointslices' },
    without: undetected,
    writes: 'endpointslices',
  },
  { access: { ...core('list', 'pods'), namespace: 'kube-system' }, without: undetected },
  {
    access: {
      verb: 'get',
      group: 'coordination.k8s.io',
      resource: 'leases',
      namespace: 'kube-system',
      name: 'kube-controller-manager',
    },
    without: undetected,
  },
  ...claimAccess('sluice', 'Sluice cannot claim the cluster for this fleet, and serves it only with --take-over', true),
  ...claimAccess(
    'sluice-namespaces',
    'an instance for listed namespaces (--namespaces) starts only with --take-over',
    false,
  ),
];

/** Optional permissions for the given work of these controllers. */
export function usefulAccess(
  work: readonly ClusterWork[],
  controllers: Iterable<Controller> = allControllers,
): readonly UsefulAccess[] {
  const used = [...controllers].map(descriptorOf);
  const isUseful = ({ writes, reads }: UsefulAccess) =>
    (writes === undefined || used.some((one) => one.writes === writes)) &&
    (reads === undefined || used.some((one) => one.reads.includes(reads)));
  return work.includes('write') ? writerAccess.filter(isUseful) : [];
}
