import type { Change, Fact, Outcome } from '@sluice/messages';

/** Versions in which a Service's slices, by name, and its Endpoints were last stored by a plan. */
export type Written = Map<string, string>;

/** No slice is called so. */
const endpointsName = '';

/** Notes what the plan stored. True if there was anything. */
export function noteWritten(written: Written, { results }: Outcome): boolean {
  let any = false;
  for (const { verb, resource, name, stored, current } of results) {
    if (verb === 'delete') written.delete(name);
    // What was found instead may differ from the plan, and is told by the Outcome itself.
    if (stored === undefined || current !== undefined) continue;
    written.set(resource === 'endpoints' ? endpointsName : name, stored.resourceVersion);
    any = true;
  }
  return any;
}

/**
 * The Change without what a plan wrote, which plan and Outcome tell already. Itself if there is
 * nothing of the kind, or if it is of a snapshot, which says what exists.
 */
export function withoutEchoes(change: Change, written: Written): Change {
  if (change.snapshot !== undefined || !change.facts.some((fact) => isEcho(fact, written))) return change;
  return { ...change, facts: change.facts.filter((fact) => !isEcho(fact, written)) };
}

function isEcho(fact: Fact, written: Written): boolean {
  if (fact.kind === 'slice') return isVersion(written.get(fact.name), fact.slice);
  return fact.kind === 'endpoints' && isVersion(written.get(endpointsName), fact.endpoints);
}

function isVersion(
  version: string | undefined,
  object: { readonly metadata: { readonly resourceVersion?: string } } | null,
): boolean {
  return version !== undefined && object?.metadata.resourceVersion === version;
}
