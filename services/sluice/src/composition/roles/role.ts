import type { OwningRole } from '@sluice/backends';
import type { ClusterWork } from '@sluice/preflight';

/** A worker does the work of all others for the shares it holds. */
export type Role = OwningRole | 'worker';

export const partsOf = (role: Role): readonly OwningRole[] =>
  role === 'worker' ? ['watcher', 'reconciler', 'writer'] : [role];

/** What a role does with its clusters. */
export const workOf = (role: Role): readonly ClusterWork[] =>
  partsOf(role).flatMap((part) =>
    part === 'watcher' ? ['watch' as const] : part === 'writer' ? ['write' as const] : [],
  );
