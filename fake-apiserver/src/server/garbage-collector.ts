import type { Clock } from '@sluice/platform';
import type { LogEntry } from './event-log.ts';
import { keyOf, type StoredObject } from './object.ts';
import { type ResourceName, resources } from './resources.ts';
import type { Backup, VersionedStore } from './versioned-store.ts';

/** Owners of other kinds, such as ReplicaSets, are not stored and count as existing. */
const knownKinds: ReadonlySet<string> = new Set(Object.values(resources).map((info) => info.kind));

interface Dependent {
  readonly resource: ResourceName;
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
}

/** Deletes objects whose owners no longer exist, after a delay (K9). Owners are identified by UID alone. */
export class GarbageCollector {
  readonly #store: VersionedStore;
  readonly #clock: Clock;
  readonly #delayMs: number;
  readonly #living = new Set<string>();
  readonly #dependents = new Map<string, Map<string, Dependent>>();

  constructor(store: VersionedStore, clock: Clock, delayMs: number) {
    this.#store = store;
    this.#clock = clock;
    this.#delayMs = delayMs;
    store.onCommit((resource, entry) => this.#observe(resource, entry));
    store.onRestore((objects) => this.#relist(objects));
  }

  #relist(objects: Backup['objects']): void {
    this.#living.clear();
    this.#dependents.clear();
    for (const stored of objects.values()) for (const { metadata } of stored) this.#living.add(metadata.uid);
    for (const [resource, stored] of objects)
      for (const object of stored)
        this.#observe(resource, { type: 'ADDED', resourceVersion: 0, object, previous: undefined });
  }

  #observe(resource: ResourceName, { type, object, previous }: LogEntry): void {
    const { uid, namespace, name } = object.metadata;
    if (type === 'DELETED') {
      this.#living.delete(uid);
      this.#forget(resource, object);
      if (this.#dependents.has(uid)) this.#later(() => this.#collect(uid));
      return;
    }
    this.#living.add(uid);
    if (previous !== undefined && previous.metadata.ownerReferences !== object.metadata.ownerReferences)
      this.#forget(resource, previous);
    for (const owner of object.metadata.ownerReferences ?? []) {
      if (!knownKinds.has(owner.kind)) continue;
      const dependents = this.#dependents.get(owner.uid) ?? new Map<string, Dependent>();
      this.#dependents.set(owner.uid, dependents);
      dependents.set(`${resource}/${keyOf(namespace, name)}`, { resource, namespace, name, uid });
      if (!this.#living.has(owner.uid)) this.#later(() => this.#collect(owner.uid));
    }
  }

  #forget(resource: ResourceName, { metadata }: StoredObject): void {
    for (const owner of metadata.ownerReferences ?? []) {
      const dependents = this.#dependents.get(owner.uid);
      dependents?.delete(`${resource}/${keyOf(metadata.namespace, metadata.name)}`);
      if (dependents?.size === 0) this.#dependents.delete(owner.uid);
    }
  }

  #later(collect: () => void): void {
    this.#clock.schedule(this.#delayMs, collect);
  }

  #collect(ownerUid: string): void {
    if (this.#living.has(ownerUid)) return;
    for (const { resource, namespace, name, uid } of [...(this.#dependents.get(ownerUid)?.values() ?? [])]) {
      const object = this.#store.get(resource, namespace, name);
      if (object === undefined || object.metadata.uid !== uid) continue;
      const owners = object.metadata.ownerReferences ?? [];
      const orphaned = owners.every((owner) => knownKinds.has(owner.kind) && !this.#living.has(owner.uid));
      if (owners.length > 0 && orphaned) this.#store.remove(resource, object);
    }
  }
}
