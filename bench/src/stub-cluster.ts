import type { Fact, MutationResult, PlannedMutations, PublishedResourceVersions } from '@sluice/messages';
import type { EndpointSlice, Endpoints, Mutation, ObjectMeta } from '@sluice/model';

/** The result of applying a plan, and the resulting watch events. */
export interface Applied {
  readonly results: readonly MutationResult[];
  readonly facts: readonly Fact[];
}

interface Written {
  readonly endpoints: Map<string, Endpoints>;
  readonly slices: Map<string, EndpointSlice>;
}

/**
 * Stores the writes to one cluster with the preconditions of an API server: names are unique, updates and deletes need the
 * current resourceVersion. Nobody else writes here, so a violation is a bug.
 */
export class StubCluster {
  readonly #services = new Map<string, Written>();
  #version = 0;

  get versions(): PublishedResourceVersions {
    return { endpoints: String(this.#version), endpointslices: String(this.#version) };
  }

  /** @throws Error that names the violated precondition */
  apply({ key, groups }: PlannedMutations): Applied {
    const results: MutationResult[] = [];
    const facts: Fact[] = [];
    for (const [group, { mutations }] of groups.entries()) {
      for (const [index, mutation] of mutations.entries()) {
        const { verb, resource } = mutation;
        const base = { group, index, verb, resource, name: nameOf(mutation), status: 'applied' as const };
        const stored = this.#write(this.#of(key.service), mutation, facts);
        results.push(stored === undefined ? base : { ...base, stored });
      }
    }
    return { results, facts };
  }

  /** Readiness of a Service's Pods by name, according to its EndpointSlices. */
  inSlices(service: string): ReadonlyMap<string, boolean> {
    const pods = new Map<string, boolean>();
    for (const { endpoints } of this.#of(service).slices.values()) {
      for (const { targetRef, conditions } of endpoints ?? []) {
        pods.set(targetRef?.name ?? '', conditions?.ready !== false);
      }
    }
    return pods;
  }

  /** The same, according to its Endpoints. */
  inEndpoints(service: string): ReadonlyMap<string, boolean> {
    const pods = new Map<string, boolean>();
    for (const { subsets } of this.#of(service).endpoints.values()) {
      for (const { addresses, notReadyAddresses } of subsets ?? []) {
        for (const { targetRef } of addresses ?? []) pods.set(targetRef?.name ?? '', true);
        for (const { targetRef } of notReadyAddresses ?? []) pods.set(targetRef?.name ?? '', false);
      }
    }
    return pods;
  }

  #of(service: string): Written {
    let written = this.#services.get(service);
    if (written === undefined) {
      written = { endpoints: new Map(), slices: new Map() };
      this.#services.set(service, written);
    }
    return written;
  }

  #write({ endpoints, slices }: Written, mutation: Mutation, facts: Fact[]): MutationResult['stored'] {
    const name = nameOf(mutation);
    const before = (mutation.resource === 'endpoints' ? endpoints : slices).get(name)?.metadata;
    check(mutation, before);
    if (mutation.verb === 'delete') {
      (mutation.resource === 'endpoints' ? endpoints : slices).delete(name);
      const uid = before?.uid ?? '';
      if (mutation.resource === 'endpoints') facts.push({ kind: 'endpoints', endpoints: null, uid });
      else facts.push({ kind: 'slice', name, slice: null, uid });
      return undefined;
    }
    this.#version += 1;
    const stored = {
      uid: before?.uid ?? `uid-${mutation.resource}-${name}`,
      resourceVersion: String(this.#version),
      generation: (before?.generation ?? 0) + 1,
    };
    const metadata = { ...mutation.object.metadata, ...stored };
    if (mutation.resource === 'endpoints') {
      const object = { ...mutation.object, metadata };
      endpoints.set(name, object);
      facts.push({ kind: 'endpoints', endpoints: object, uid: stored.uid });
    } else {
      const object = { ...mutation.object, metadata };
      slices.set(name, object);
      facts.push({ kind: 'slice', name, slice: object, uid: stored.uid });
    }
    return stored;
  }
}

function nameOf(mutation: Mutation): string {
  return mutation.verb === 'delete' ? mutation.name : mutation.object.metadata.name;
}

function check(mutation: Mutation, before: ObjectMeta | undefined): void {
  const what = `${mutation.verb} of ${mutation.resource} ${nameOf(mutation)}`;
  if (mutation.verb === 'create') {
    if (before !== undefined) throw new Error(`${what}: the object already exists`);
    return;
  }
  if (before === undefined) throw new Error(`${what}: the object does not exist`);
  const given = mutation.verb === 'update' ? mutation.object.metadata : mutation;
  if (given.resourceVersion !== undefined && given.resourceVersion !== before.resourceVersion) {
    throw new Error(`${what}: resourceVersion is ${before.resourceVersion}, not ${given.resourceVersion}`);
  }
}
