import type { Mutation } from '@sluice/controllers';
import type { PlannedMutations } from '@sluice/messages';

/**
 * Whether the API server refuses every write of the plan once it has been carried out. A name alone does not guard: what was
 * created may have been deleted since, and what was deleted may have been made again.
 */
export function isGuarded({ groups }: PlannedMutations): boolean {
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
