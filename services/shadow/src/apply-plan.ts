import type { PlannedMutations } from '@sluice/messages';
import type { Mutation } from '@sluice/model';
import { type JsonObject, textAt } from './comparison/json.ts';
import { type ClusterState, triggerTimeAnnotation } from './comparison/normalise.ts';

/**
 * Returns the state after the plan, or undefined if the plan does not apply: an object that it updates or deletes is
 * missing, or one that it creates exists.
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

/** The object in the form that the writer sends. */
function toJson(object: object): JsonObject {
  return JSON.parse(JSON.stringify(object)) as JsonObject;
}

/** The desired content of a plan as text, without numbers, versions and generated names. */
export function contentOf({ groups }: PlannedMutations): string {
  return JSON.stringify(groups.map(({ mutations }) => mutations.map(wantedBy)));
}

function wantedBy(mutation: Mutation): unknown {
  const { verb, resource } = mutation;
  if (mutation.verb === 'delete') return [verb, resource, mutation.name];
  const { metadata, ...content } = mutation.object;
  const { labels, annotations, ownerReferences, name } = metadata;
  const { [triggerTimeAnnotation]: _, ...others } = annotations ?? {};
  const named = verb === 'create' && resource === 'endpointslices' ? '' : name;
  return [verb, resource, named, labels ?? {}, others, ownerReferences ?? [], content];
}
