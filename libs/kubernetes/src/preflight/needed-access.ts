import { allControllers, descriptorOf, type ReadResource, resourcesOf } from '@sluice/controllers';
import type { Controller } from '@sluice/model';
import { apiGroup, type Resource, resourcesOfReader } from '../index.ts';
import type { Access } from './access.ts';

/** A watcher only watches and a writer only writes; neither needs the permissions of the other. */
export type ClusterWork = 'watch' | 'write';

const access = (resource: Resource, ...verbs: Access['verb'][]) =>
  verbs.map((verb) => ({ verb, group: apiGroup(resource), resource }));

export type WrittenResource = Extract<Resource, 'endpoints' | 'endpointslices'>;

/** The permissions that the ServiceAccount of a controller that writes this resource needs (A12). */
export function controllerAccess(written: WrittenResource): readonly Access[] {
  // get: the writer reads back an object after a conflict.
  return access(written, 'get', 'create', 'update', 'delete');
}

/** The permissions without which Sluice cannot do the given work of these controllers in a cluster (A12). */
export function neededAccess(
  work: readonly ClusterWork[],
  controllers: Iterable<Controller> = allControllers,
): readonly Access[] {
  const used = [...controllers].map(descriptorOf);
  const written = new Set(used.map(({ writes }) => writes));
  const read = new Set<ReadResource>(used.flatMap(({ reads }) => reads));
  for (const resource of written) read.delete(resource as ReadResource);
  return [
    { verb: 'get', group: '', resource: 'namespaces', name: 'kube-system' },
    ...(work.includes('watch')
      ? resourcesOfReader({ resources: resourcesOf(controllers) }).flatMap((resource) =>
          access(resource, 'list', 'watch'),
        )
      : []),
    ...(work.includes('write')
      ? [
          // get: the writer reads back an object after a conflict.
          ...[...written].flatMap((resource) => access(resource, 'get', 'create', 'update', 'delete')),
          // get: the writer confirms a removal by fresh reads.
          ...[...read].flatMap((resource) => access(resource, 'get')),
        ]
      : []),
  ];
}
