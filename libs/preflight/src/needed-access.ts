import { apiGroup, type Resource, watchedResources } from '@sluice/kubernetes';
import type { Access } from './access.ts';

/** A watcher only watches and a writer only writes; neither needs the permissions of the other. */
export type ClusterWork = 'watch' | 'write';

/** The permissions without which Sluice cannot do the given work in a cluster (A12). */
export function neededAccess(work: readonly ClusterWork[]): readonly Access[] {
  const access = (resource: Resource, ...verbs: Access['verb'][]) =>
    verbs.map((verb) => ({ verb, group: apiGroup(resource), resource }));
  return [
    { verb: 'get', group: '', resource: 'namespaces', name: 'kube-system' },
    ...(work.includes('watch') ? watchedResources.flatMap((resource) => access(resource, 'list', 'watch')) : []),
    ...(work.includes('write')
      ? [
          // get: the writer reads back an object after a conflict.
          ...access('endpoints', 'get', 'create', 'update', 'delete'),
          ...access('endpointslices', 'get', 'create', 'update', 'delete'),
          // get: the writer confirms a removal by fresh reads.
          ...(['services', 'pods', 'nodes'] as const).flatMap((resource) => access(resource, 'get')),
        ]
      : []),
  ];
}
