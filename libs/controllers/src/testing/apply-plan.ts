import type { Endpoints } from '../objects/endpoints.ts';
import type { EndpointSlice } from '../objects/endpointslice.ts';
import type { Mutation, Plan } from '../plan.ts';

/** What an API server holds of the objects that the controllers write, by name, in one namespace. */
export interface WrittenObjects {
  readonly endpoints: ReadonlyMap<string, Endpoints>;
  readonly slices: ReadonlyMap<string, EndpointSlice>;
}

export const nothingWritten: WrittenObjects = { endpoints: new Map(), slices: new Map() };

/** The state after a plan, with the rules of section K. Throws where an API server would refuse. */
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
    store.set(name, stored(mutation.object, name, `uid of ${name} ${store.size}`, 1));
    return;
  }
  const name = mutation.verb === 'delete' ? mutation.name : mutation.object.metadata.name;
  const current = store.get(name);
  if (current === undefined) throw new Error(`${name} not found`);
  const { uid = '', resourceVersion } = current.metadata;
  const expected = mutation.verb === 'delete' ? mutation.resourceVersion : mutation.object.metadata.resourceVersion;
  if (expected !== resourceVersion) throw new Error(`${name} is at ${resourceVersion}, not ${expected}`);
  if (mutation.verb === 'delete') store.delete(name);
  else store.set(name, stored(mutation.object, name, uid, Number(resourceVersion) + 1));
}

function stored<T extends Endpoints | EndpointSlice>(object: T, name: string, uid: string, version: number): T {
  return { ...object, metadata: { ...object.metadata, name, uid, resourceVersion: String(version) } };
}

function freeName(store: ReadonlyMap<string, unknown>, prefix: string): string {
  let number = store.size;
  while (store.has(`${prefix}${number}`)) number++;
  return `${prefix}${number}`;
}
