import type { EndpointSlice, Endpoints, Mutation, Plan } from '@sluice/model';

/** The written objects of one namespace in an API server, keyed by name. */
export interface WrittenObjects {
  readonly endpoints: ReadonlyMap<string, Endpoints>;
  readonly slices: ReadonlyMap<string, EndpointSlice>;
}

export const nothingWritten: WrittenObjects = { endpoints: new Map(), slices: new Map() };

/**
 * Applies a plan by the rules of section K and returns the next state. Throws if an API server would reject a write.
 */
export function applyPlan(before: WrittenObjects, plan: Plan): WrittenObjects {
  const endpoints = new Map(before.endpoints);
  const slices = new Map(before.slices);
  for (const { mutations } of plan.groups) {
    for (const mutation of mutations) {
      if (mutation.resource === 'endpoints') apply(endpoints, mutation);
      else apply(slices, mutation);
    }
  }
  return { endpoints, slices };
}

function apply(store: Map<string, Endpoints | EndpointSlice>, mutation: Mutation): void {
  if (mutation.verb === 'create') {
    const name = mutation.object.metadata.name || freeName(store, mutation.object.metadata.generateName ?? '');
    if (store.has(name)) throw new Error(`${name} already exists`);
    refuseBeyondLimits(mutation.object);
    store.set(name, stored(mutation.object, name, `uid of ${name} ${store.size}`, 1));
    return;
  }
  const name = mutation.verb === 'delete' ? mutation.name : mutation.object.metadata.name;
  const current = store.get(name);
  if (current === undefined) throw new Error(`${name} not found`);
  const { uid = '', resourceVersion } = current.metadata;
  const expected = mutation.verb === 'delete' ? mutation.resourceVersion : mutation.object.metadata.resourceVersion;
  if (expected !== resourceVersion) throw new Error(`${name} is at ${resourceVersion}, not ${expected}`);
  if (mutation.verb === 'delete') {
    store.delete(name);
    return;
  }
  refuseBeyondLimits(mutation.object, current);
  store.set(name, stored(mutation.object, name, uid, Number(resourceVersion) + 1));
}

/** Rejects what the API server would: a changed address type and too many endpoints (K3). */
function refuseBeyondLimits(object: Endpoints | EndpointSlice, before?: Endpoints | EndpointSlice): void {
  if (!('addressType' in object)) return;
  if (before !== undefined && 'addressType' in before && before.addressType !== object.addressType) {
    throw new Error(`${before.metadata.name}: addressType is immutable`);
  }
  const { endpoints, ports } = object;
  if ((endpoints?.length ?? 0) > 1000) throw new Error(`${endpoints?.length} endpoints`);
  if ((ports?.length ?? 0) > 20_000) throw new Error(`${ports?.length} ports`);
  for (const { addresses, hints } of endpoints ?? []) {
    if (addresses.length < 1 || addresses.length > 100) throw new Error(`${addresses.length} addresses`);
    const named = Math.max(hints?.forZones?.length ?? 0, hints?.forNodes?.length ?? 0);
    if (named > 8) throw new Error(`${named} hints`);
  }
}

function stored<T extends Endpoints | EndpointSlice>(object: T, name: string, uid: string, version: number): T {
  return { ...object, metadata: { ...object.metadata, name, uid, resourceVersion: String(version) } };
}

function freeName(store: ReadonlyMap<string, unknown>, prefix: string): string {
  let number = store.size;
  while (store.has(`${prefix}${number}`)) number++;
  return `${prefix}${number}`;
}
