import { asRecord, type Clock } from '@sluice/platform';
import type { StoredObject } from './object.ts';
import { type ResourceInfo, type ResourceName, resourceNames, resources } from './resources.ts';
import { namespaceTerminating, notFound } from './status.ts';
import type { VersionedStore } from './versioned-store.ts';

/** Rejects a create in a namespace that does not exist or is terminating. */
export function admitToNamespace(store: VersionedStore, info: ResourceInfo, namespace: string, name: string): void {
  const found = store.get('namespaces', '', namespace);
  if (found === undefined) throw notFound(resources.namespaces, namespace);
  if (isTerminating(found)) throw namespaceTerminating(info, name, namespace);
}

export function isTerminating(namespace: StoredObject): boolean {
  return namespace.metadata.deletionTimestamp !== undefined;
}

/** A namespace with a deletionTimestamp. */
export function terminating(namespace: StoredObject, deletionTimestamp: string): StoredObject {
  return {
    ...namespace,
    metadata: { ...namespace.metadata, deletionTimestamp },
    status: { ...asRecord(namespace.status), phase: 'Terminating' },
  };
}

/** After a delay, removes everything in the namespace, then the namespace. A restore of etcd may have undone its deletion. */
export function finishNamespace(store: VersionedStore, clock: Clock, namespace: string, delayMs: number): void {
  clock.schedule(delayMs, () => {
    const last = store.get('namespaces', '', namespace);
    if (last === undefined || !isTerminating(last)) return;
    for (const resource of resourceNames.filter((name) => resources[name].namespaced))
      for (const object of membersOf(store, resource, namespace)) store.remove(resource, object);
    store.remove('namespaces', last);
  });
}

function membersOf(store: VersionedStore, resource: ResourceName, namespace: string): readonly StoredObject[] {
  return store.items(resource).filter((object) => object.metadata.namespace === namespace);
}
