import type { Mutation } from '@sluice/controllers';
import type { PlannedMutations } from '@sluice/messages';
import { triggerTimeAnnotation } from './comparison/normalise.ts';

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
