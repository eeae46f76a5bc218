import type { Controller } from '@sluice/controllers';

/** Slices first: traffic follows them. */
export const decisionOrder: readonly Controller[] = ['endpointslice', 'endpointslicemirroring', 'endpoints'];
