import type { Mutation } from '@sluice/controllers';
import type { PlannedMutations } from '@sluice/messages';

/**
 * Whether every write of the plan carries a resourceVersion or UID, so that the API server rejects it if it was applied
 * before. A name is not enough: a created object may have been deleted since, and a deleted one created again.
 */
export function hasPreconditions({ groups }: PlannedMutations): boolean {
  return groups.every(({ mutations }) => mutations.every(hasPrecondition));
}

function hasPrecondition(mutation: Mutation): boolean {
  switch (mutation.verb) {
    case 'create':
      return false;
    case 'update':
      return (mutation.object.metadata.resourceVersion ?? '') !== '';
    case 'delete':
      return mutation.uid !== undefined || mutation.resourceVersion !== undefined;
  }
}
