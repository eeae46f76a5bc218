import type { RawObject } from '@sluice/kubernetes';
import { asRecord, type Clock, isRecord, type Random } from '@sluice/platform';
import { ClusterIPs } from './cluster-ips.ts';
import type { Page } from './collection.ts';
import { checkPreconditions, type DeleteOptions, gracePeriod } from './deletion.ts';
import { EventExpiry } from './event-expiry.ts';
import { featuresOf, type ServerFeatures } from './features.ts';
import { invalidObject } from './field-error.ts';
import { GarbageCollector } from './garbage-collector.ts';
import { mergePatch, strategicMergePatch } from './merge-patch.ts';
import { metaForCreate, metaForUpdate, withGeneration } from './metadata.ts';
import { generateName, randomUid, timestamp } from './names.ts';
import { admitToNamespace, finishNamespace, isTerminating, terminating } from './namespaces.ts';
import { type GivenMeta, type GivenObject, receive, type StoredMeta, type StoredObject, withType } from './object.ts';
import { prepare, releaseClusterIPs } from './prepare.ts';
import { type ResourceInfo, type ResourceName, resources } from './resources.ts';
import type { Selection } from './selection.ts';
import { semanticEqual, sharing } from './semantic-equal.ts';
import { clusterIPsOf } from './service-defaults.ts';
import { alreadyExists, badRequest, conflict, generateNameConflict, notFound, objectModified } from './status.ts';
import { validateMetadata } from './validate-metadata.ts';
import { type Backup, type CommitListener, VersionedStore } from './versioned-store.ts';
import type { Watch, WatchCut, WatchOptions } from './watch.ts';

export interface FakeApiServerOptions {
  readonly clock: Clock;
  readonly random: Random;
  /** `all` (default), `storage-only`, or the features that differ from `all`. */
  readonly features?: 'all' | 'storage-only' | Partial<ServerFeatures>;
  /** Changes per resource that a watch may lag behind; 4096 by default. */
  readonly eventWindow?: number;
  /** 60 s by default; 0: no timer, only `sendBookmarks` sends bookmarks. */
  readonly bookmarkIntervalMs?: number;
  /** Delay of garbage collection and of namespace deletion; 50 ms by default. */
  readonly collectionDelayMs?: number;
}

export interface ListOptions extends Selection {
  /** 0 or absent: no limit. */
  readonly limit?: number;
  readonly continueToken?: string;
  /** Return the state this many changes ago, as far as the event log reaches. */
  readonly behind?: number;
}

export interface WriteOptions {
  /** Write the status only. */
  readonly subresource?: 'status';
}

export type PatchType = 'merge' | 'strategic';

const nameAttempts = 8;

/**
 * An in-memory Kubernetes API server with the rules of section K. All calls are synchronous and throw StatusError.
 * Returned objects are frozen and carry kind and apiVersion, except for the items of a list.
 */
export class FakeApiServer {
  readonly #features: ServerFeatures;
  readonly #clock: Clock;
  readonly #random: Random;
  readonly #store: VersionedStore;
  readonly #clusterIPs: ClusterIPs;
  readonly #eventExpiry: EventExpiry;
  readonly #collectionDelayMs: number;

  constructor(options: FakeApiServerOptions) {
    this.#features = featuresOf(options.features);
    this.#clock = options.clock;
    this.#random = options.random;
    this.#store = new VersionedStore(options.clock, {
      eventWindow: options.eventWindow ?? 4096,
      bookmarkIntervalMs: options.bookmarkIntervalMs ?? 60_000,
    });
    this.#clusterIPs = new ClusterIPs(options.random);
    this.#eventExpiry = new EventExpiry(this.#store);
    this.#collectionDelayMs = options.collectionDelayMs ?? 50;
    if (this.#features.garbageCollection) new GarbageCollector(this.#store, this.#clock, this.#collectionDelayMs);
    for (const name of ['default', 'kube-node-lease', 'kube-public', 'kube-system'])
      this.create('namespaces', { metadata: { name } });
  }

  get resourceVersion(): string {
    return String(this.#store.resourceVersion);
  }

  /** UID of the namespace kube-system, the identity of the cluster. */
  get identity(): string {
    return this.get('namespaces', '', 'kube-system').metadata.uid;
  }

  get(resource: ResourceName, namespace: string, name: string): StoredObject {
    return withType(resources[resource], this.#existing(resource, namespace, name));
  }

  list(resource: ResourceName, options: ListOptions = {}): Page {
    return this.#store.page(resource, options, options.limit ?? 0, options.continueToken ?? '', options.behind);
  }

  count(resource: ResourceName): number {
    return this.#store.count(resource);
  }

  watch(resource: ResourceName, options: WatchOptions = {}): Watch {
    return this.#store.watch(resource, options);
  }

  /** Generates a name from `generateName` only if there is none; both are stored (K1). Slices start at generation 1 (K4). */
  create(resource: ResourceName, object: RawObject): StoredObject {
    const info = resources[resource];
    const given = receive(info, object);
    const namespace = this.#namespaceOf(info, given);
    if (this.#features.validation && given.metadata.resourceVersion !== undefined)
      throw badRequest('resourceVersion should not be set on objects to be created');
    const name = this.#nameFor(info, namespace, given.metadata);
    if (this.#features.admission && info.namespaced) admitToNamespace(this.#store, info, namespace, name);
    if (this.#store.get(resource, namespace, name) !== undefined) throw alreadyExists(info, name);
    const metadata = metaForCreate(info, given.metadata, {
      name,
      namespace,
      uid: randomUid(this.#random),
      creationTimestamp: timestamp(this.#clock.now()),
    });
    const prepared = prepare(this.#features, this.#clusterIPs, info, { ...given, metadata }, undefined);
    const stored = this.#store.put(resource, { ...prepared, metadata: { ...metadata, ...prepared.metadata } });
    if (resource === 'events') this.#eventExpiry.add(namespace, name);
    return withType(info, stored);
  }

  /** The object with the name that `create` would generate, for a client that needs the name first. */
  named<T extends RawObject>(resource: ResourceName, object: T): T & { readonly metadata: { readonly name: string } } {
    const info = resources[resource];
    const { metadata } = receive(info, { metadata: object.metadata });
    const name = this.#nameFor(info, metadata.namespace ?? '', metadata);
    return { ...object, metadata: { ...asRecord(object.metadata), name } };
  }

  /** Replaces an object; unconditional without resourceVersion (K2). An update without changes returns the stored object (K5). */
  update(resource: ResourceName, object: RawObject, options: WriteOptions = {}): StoredObject {
    const info = resources[resource];
    const given = receive(info, object);
    const namespace = this.#namespaceOf(info, given);
    const { name = '' } = given.metadata;
    const old = this.#store.get(resource, namespace, name);
    if (old === undefined) return this.#updateMissing(info, given, name);
    this.#checkUpdate(info, given, old);
    const merged = sharing(old, this.#onlyWritable(info, given, old, options));
    const metadata = metaForUpdate(merged.metadata, old);
    const prepared = prepare(this.#features, this.#clusterIPs, info, { ...merged, metadata }, old);
    const next = { ...prepared, metadata: withGeneration(info, prepared, metadata, old) };
    if (semanticEqual(old, next)) return withType(info, old);
    const finished = this.#features.gracefulDeletion && resource !== 'namespaces' && isFinished(metadata);
    return withType(info, finished ? this.#store.remove(resource, next) : this.#store.put(resource, next));
  }

  /** Applies a JSON merge patch or a strategic merge patch without directives. A `resourceVersion` in it is a precondition. */
  patch(
    resource: ResourceName,
    namespace: string,
    name: string,
    patch: unknown,
    options: WriteOptions & { readonly type?: PatchType } = {},
  ): StoredObject {
    const info = resources[resource];
    const old = this.#existing(resource, namespace, name);
    const { resourceVersion: _version, ...metadata } = old.metadata;
    const apply = options.type === 'strategic' ? strategicMergePatch : mergePatch;
    const patched = apply({ ...old, metadata }, patch);
    if (!isRecord(patched)) throw badRequest('this patch is not supported: it is no object or has directives');
    const meta = asRecord(patched.metadata);
    if (meta.name !== name || (meta.namespace ?? '') !== old.metadata.namespace)
      throw badRequest(`the name of the object does not match the name on the URL (${name})`);
    return this.update(info.name, patched, options);
  }

  /**
   * Deletes an object and returns its last state. With `gracefulDeletion`, running Pods, objects with finalizers and
   * namespaces first get a deletionTimestamp; the caller deletes a stopped Pod again with grace period 0.
   */
  delete(resource: ResourceName, namespace: string, name: string, options: DeleteOptions = {}): StoredObject {
    const info = resources[resource];
    const object = this.#existing(resource, namespace, name);
    checkPreconditions(info, object, options);
    const mark = this.#markDeleted(info, object, options);
    if (mark !== undefined) return withType(info, mark === object ? object : this.#store.put(resource, mark));
    releaseClusterIPs(this.#clusterIPs, info, object, undefined);
    return withType(info, this.#store.remove(resource, object));
  }

  /**
   * Stores an object without applying any rules, to seed the server or replay recorded scenarios. The object gets a new
   * resourceVersion; a missing UID is inherited or generated; a slice without generation gets one according to K4.
   */
  put(resource: ResourceName, object: RawObject): StoredObject {
    const info = resources[resource];
    const given = receive(info, object);
    const namespace = this.#namespaceOf(info, given);
    const old = this.#store.get(resource, namespace, given.metadata.name ?? '');
    const metadata: StoredMeta = {
      ...given.metadata,
      name: given.metadata.name ?? '',
      namespace,
      uid: given.metadata.uid ?? old?.metadata.uid ?? randomUid(this.#random),
      resourceVersion: '',
    };
    if (resource === 'services') for (const ip of clusterIPsOf(given)) this.#clusterIPs.reserve(ip);
    const versioned = metadata.generation ? metadata : withGeneration(info, given, metadata, old);
    return withType(info, this.#store.put(resource, { ...given, metadata: versioned }));
  }

  /** Compacts the event log: lagging watches and pages get 410. */
  compact(): void {
    this.#store.compact();
  }

  /** A backup of etcd. */
  backup(): Backup {
    return this.#store.backup();
  }

  /**
   * Restores etcd from a backup and restarts the API server: watches break, and resourceVersions continue from the backup's.
   * With `bumpRevision`, they continue that much higher (`etcdutl snapshot restore --bump-revision --mark-compacted`). Deletions of
   * namespaces that had started before the backup are finished.
   */
  restore(backup: Backup, bumpRevision = 0): void {
    this.#store.restore(backup, bumpRevision);
    for (const namespace of this.#store.items('namespaces'))
      if (isTerminating(namespace)) this.#finishNamespace(namespace);
  }

  /** Sends a bookmark to every watch that requested bookmarks. */
  sendBookmarks(): void {
    this.#store.sendBookmarks();
  }

  /** Ends running watches of one resource or of all; returns their number. */
  cutWatches(how: WatchCut, resource?: ResourceName): number {
    return this.#store.cutWatches(how, resource);
  }

  /** Registers a listener for tests, called synchronously after every change, in order. */
  onCommit(listener: CommitListener): void {
    this.#store.onCommit(listener);
  }

  #finishNamespace({ metadata }: StoredObject): void {
    finishNamespace(this.#store, this.#clock, metadata.name, this.#collectionDelayMs);
  }

  #existing(resource: ResourceName, namespace: string, name: string): StoredObject {
    const found = this.#store.get(resource, resources[resource].namespaced ? namespace : '', name);
    if (found === undefined) throw notFound(resources[resource], name);
    return found;
  }

  #namespaceOf(info: ResourceInfo, object: GivenObject): string {
    return info.namespaced ? (object.metadata.namespace ?? 'default') : '';
  }

  #nameFor(info: ResourceInfo, namespace: string, { name, generateName: base }: GivenMeta): string {
    if (name !== undefined && name !== '') return name;
    if (base === undefined) throw invalidObject(info, '', validateMetadata(info, { metadata: {} }));
    for (let attempt = 1; ; attempt++) {
      const generated = generateName(base, this.#random);
      if (this.#store.get(info.name, namespace, generated) === undefined) return generated;
      if (attempt >= nameAttempts) throw generateNameConflict(info, generated);
    }
  }

  #updateMissing(info: ResourceInfo, given: GivenObject, name: string): StoredObject {
    if (!this.#features.createOnUpdate || !info.createOnUpdate) throw notFound(info, name);
    if (given.metadata.uid !== undefined) throw conflict(info, name, uidMismatch(given.metadata.uid, ''));
    const { resourceVersion: _version, ...metadata } = given.metadata;
    return this.create(info.name, { ...given, metadata });
  }

  #checkUpdate(info: ResourceInfo, { metadata }: GivenObject, old: StoredObject): void {
    const { name, uid, resourceVersion } = old.metadata;
    if (metadata.uid !== undefined && metadata.uid !== uid) throw conflict(info, name, uidMismatch(metadata.uid, uid));
    if (metadata.resourceVersion !== undefined && metadata.resourceVersion !== resourceVersion)
      throw conflict(info, name, objectModified);
  }

  #onlyWritable(info: ResourceInfo, given: GivenObject, old: StoredObject, options: WriteOptions): GivenObject {
    if (options.subresource === 'status') return { ...old, status: given.status };
    if (!this.#features.statusSubresources || !info.statusSubresource) return given;
    const { status: _status, ...rest } = given;
    return { ...rest, metadata: given.metadata, ...('status' in old ? { status: old.status } : {}) };
  }

  /** The object with a deletionTimestamp if it cannot be removed yet; the same object if it already has one. */
  #markDeleted(info: ResourceInfo, object: StoredObject, options: DeleteOptions): StoredObject | undefined {
    if (!this.#features.gracefulDeletion) return undefined;
    const { metadata } = object;
    const now = this.#clock.now();
    if (info.name === 'namespaces') {
      if (isTerminating(object)) return object;
      this.#finishNamespace(object);
      return terminating(object, timestamp(now));
    }
    const grace = info.name === 'pods' ? gracePeriod(object, options) : 0;
    if (grace === 0 && !metadata.finalizers?.length) return undefined;
    if (metadata.deletionTimestamp !== undefined && grace === (metadata.deletionGracePeriodSeconds ?? 0)) return object;
    const deletionTimestamp = timestamp(now + grace * 1000);
    return { ...object, metadata: { ...metadata, deletionTimestamp, deletionGracePeriodSeconds: grace } };
  }
}

/** A deleted object without finalizers or remaining grace period. */
function isFinished({ deletionTimestamp, finalizers, deletionGracePeriodSeconds }: StoredMeta): boolean {
  return deletionTimestamp !== undefined && !finalizers?.length && !deletionGracePeriodSeconds;
}

function uidMismatch(given: string, stored: string): string {
  return `Precondition failed: UID in precondition: ${given}, UID in object meta: ${stored}`;
}
