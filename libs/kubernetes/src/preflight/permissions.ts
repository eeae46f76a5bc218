import { allControllers, type ControllerDescriptor, descriptorOf } from '@sluice/controllers';
import type { Controller, WrittenResource } from '@sluice/model';
import { apiGroup, type Resource, resourcesOfReader } from '../index.ts';

/** A request to be authorized: `resourceAttributes` of a SelfSubjectAccessReview. */
export interface Access {
  readonly verb: 'get' | 'list' | 'watch' | 'create' | 'update' | 'patch' | 'delete';
  /** Empty for the core group. */
  readonly group: string;
  readonly resource: string;
  readonly subresource?: string;
  /** Default: all namespaces. */
  readonly namespace?: string;
  readonly name?: string;
}

/** A watcher only watches and a writer only writes; neither needs the permissions of the other. */
export type ClusterWork = 'watch' | 'write';

/** A permission that Sluice uses in a cluster. Checks, infra/kubernetes/rbac.yaml and the Helm chart derive from these. */
export interface Permission {
  readonly access: Access;
  /** What it is for, unless that is obvious; a comment in rbac.yaml. */
  readonly purpose?: string;
  /** What does not work without it. Absent: Sluice does not start without it. */
  readonly without?: string;
  /** Without it, Sluice serves the cluster only with `--take-over`. */
  readonly refused?: boolean;
}

const access = (verb: Access['verb'], resource: Resource, subresource?: string): Access => ({
  ...{ verb, group: apiGroup(resource), resource },
  ...(subresource !== undefined && { subresource }),
});

/** What a reader needs to see the endpoints of a namespace, by default of all, in a console. */
export const readEndpoints = (namespace: string | undefined): Access => ({
  ...access('list', 'endpointslices'),
  ...(namespace !== undefined && { namespace }),
});

const lease = (verb: Access['verb'], name: string): Access => ({
  ...{ verb, group: 'coordination.k8s.io', resource: 'leases' },
  ...{ namespace: 'kube-system', name },
});

const identity: Permission = {
  access: { verb: 'get', group: '', resource: 'namespaces', name: 'kube-system' },
  purpose: 'The UID of kube-system identifies the cluster, even if its address changes.',
};

const writtenPurpose =
  'get: read the object back after AlreadyExists or Conflict; list: find competing controllers (ADR 0024).';
const undetected =
  'Sluice cannot rule out competing controllers, and then writes only with --take-over, unless it sees the flags of kube-controller-manager';

const restricted: Permission = {
  access: access('create', 'endpoints', 'restricted'),
  purpose: 'Some clusters require this to write addresses of the Pod and Service networks into Endpoints.',
  without: 'some clusters reject Endpoints with addresses of the Pod and Service networks',
};

const finalizers = (owner: Resource): Permission => ({
  access: access('update', owner, 'finalizers'),
  purpose:
    'The owner references of slices set blockOwnerDeletion, for which OwnerReferencesPermissionEnforcement requires this.',
  without: 'with OwnerReferencesPermissionEnforcement, the API server rejects EndpointSlices',
});

const events: readonly Permission[] = (['create', 'patch'] as const).map((verb) => ({
  access: { verb, group: '', resource: 'events' },
  without: 'Sluice records no Events',
}));

/** How a writer finds out whether it may serve the cluster. */
const coexistence: readonly Permission[] = [
  ...[{ ...access('list', 'pods'), namespace: 'kube-system' }, lease('get', 'kube-controller-manager')].map((one) => ({
    access: one,
    purpose: 'Find out whether kube-controller-manager is running, and with which controllers (ADR 0024).',
    without: undetected,
  })),
  ...claim('sluice', 'Sluice cannot claim the cluster for this fleet, and serves it only with --take-over', true),
  ...claim('sluice-namespaces', 'an instance for listed namespaces (--namespaces) starts only with --take-over', false),
];

function claim(name: string, without: string, refused: boolean): readonly Permission[] {
  const purpose =
    'Claim the cluster for one fleet (ADR 0054). `create` cannot be limited to a name, so the Leases exist.';
  return (['get', 'update'] as const).map((verb) => ({ access: lease(verb, name), purpose, without, refused }));
}

/** The permissions that the ServiceAccount of a controller that writes this resource needs (A12). */
export function controllerAccess(written: WrittenResource): readonly Access[] {
  return (['get', 'create', 'update', 'delete'] as const).map((verb) => access(verb, written));
}

/** The permissions for this work of these controllers in a cluster. */
export function permissions(
  work: ClusterWork,
  controllers: Iterable<Controller> = allControllers,
): readonly Permission[] {
  const used = [...controllers].map(descriptorOf);
  const resources = (of: (one: ControllerDescriptor) => readonly Resource[]) =>
    resourcesOfReader({ resources: new Set(used.flatMap(of)) });
  if (work === 'watch')
    return [
      identity,
      ...resources(({ reads, writes }) => [...reads, writes]).flatMap((resource) => [
        { access: access('list', resource) },
        { access: access('watch', resource) },
      ]),
    ];
  const written = used.map(({ writes }) => writes);
  return [
    identity,
    ...[...new Set(written)].flatMap((resource) => [
      ...controllerAccess(resource).map((one) => ({ access: one, purpose: writtenPurpose })),
      { access: access('list', resource), purpose: writtenPurpose, without: undetected },
    ]),
    ...resources(({ reads }) => reads.filter((resource) => !written.some((one) => one === resource))).map(
      (resource) => ({
        access: access('get', resource),
        purpose: 'Confirm that the Service, Pods or Node of removed endpoints are gone (ADR 0029).',
      }),
    ),
    ...events,
    ...(written.includes('endpoints') ? [restricted] : []),
    ...resources(({ owner }) => (owner === undefined ? [] : [owner])).map(finalizers),
    ...coexistence,
  ];
}

/** The accesses without which Sluice cannot do this work of these controllers in a cluster, each once (A12). */
export function neededAccess(work: readonly ClusterWork[], controllers?: Iterable<Controller>): readonly Access[] {
  const needed = work.flatMap((one) => permissions(one, controllers)).filter(({ without }) => without === undefined);
  return [...new Map(needed.map(({ access }) => [JSON.stringify(access), access])).values()];
}
