import type { Mutation } from '@sluice/controllers';
import type { PlannedMutations } from '@sluice/messages';
import { type JsonObject, textAt } from './comparison/json.ts';
import type { ClusterState } from './comparison/normalise.ts';

/**
 * The state after the plan. Undefined: the plan does not fit it, since what it would change or delete is not there any
 * more, or what it would create is.
 */
export function applyPlan(state: ClusterState, { groups }: Pick<PlannedMutations, 'groups'>): ClusterState | undefined {
  const next = { endpoints: [...state.endpoints], endpointslices: [...state.endpointslices] };
  for (const mutation of groups.flatMap(({ mutations }) => mutations)) {
    const objects = next[mutation.resource];
    const at = objects.findIndex(({ metadata }) => textAt(metadata, 'name') === nameOf(mutation));
    const old = objects[at];
    if ((old === undefined) !== (mutation.verb === 'create')) return undefined;
    if (mutation.verb === 'delete') objects.splice(at, 1);
    else if (old === undefined) objects.push(toJson(mutation.object));
    else objects[at] = toJson(mutation.object);
  }
  return { ...state, ...next };
}

const nameOf = (mutation: Mutation): string =>
  mutation.verb === 'delete' ? mutation.name : mutation.object.metadata.name;

/** As it would be sent. */
function toJson(object: object): JsonObject {
  return JSON.parse(JSON.stringify(object)) as JsonObject;
}
