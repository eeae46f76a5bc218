import type { Clock } from '@sluice/platform';
import { Collection, type Page } from './collection.ts';
import { EventLog, type LogEntry } from './event-log.ts';
import { keyOf, type StoredObject } from './object.ts';
import { type ResourceName, resourceNames } from './resources.ts';
import type { Selection } from './selection.ts';
import { badRequest, expired, tooLarge } from './status.ts';
import { Watch, type WatchCut, type WatchOptions } from './watch.ts';

export interface StoreOptions {
  /** Changes per resource that a watch may lag behind before it gets 410. */
  readonly eventWindow: number;
  /** Interval of bookmarks in milliseconds; 0: only when `sendBookmarks` is called. */
  readonly bookmarkIntervalMs: number;
}

export type CommitListener = (resource: ResourceName, entry: LogEntry) => void;

export type RestoreListener = (objects: Backup['objects']) => void;

export interface Backup {
  readonly resourceVersion: number;
  readonly objects: ReadonlyMap<ResourceName, readonly StoredObject[]>;
}

interface Shelf {
  readonly objects: Collection;
  log: EventLog;
  readonly watches: Set<Watch>;
}

/** Objects with one increasing resourceVersion, and the event log that watches read. Applies no rules about objects. */
export class VersionedStore {
  readonly #clock: Clock;
  readonly #options: StoreOptions;
  readonly #shelves: ReadonlyMap<ResourceName, Shelf>;
  readonly #listeners = new Set<CommitListener>();
  readonly #restoreListeners = new Set<RestoreListener>();
  #resourceVersion = 0;

  constructor(clock: Clock, options: StoreOptions) {
    this.#clock = clock;
    this.#options = options;
    this.#shelves = new Map(
      resourceNames.map((name) => [
        name,
        { objects: new Collection(clock), log: new EventLog(options.eventWindow, 0), watches: new Set() },
      ]),
    );
  }

  get resourceVersion(): number {
    return this.#resourceVersion;
  }

  get(resource: ResourceName, namespace: string, name: string): StoredObject | undefined {
    return this.#shelf(resource).objects.get(keyOf(namespace, name));
  }

  /** All objects of the resource, ordered by key. */
  items(resource: ResourceName): readonly StoredObject[] {
    return this.#shelf(resource).objects.items();
  }

  count(resource: ResourceName): number {
    return this.#shelf(resource).objects.size;
  }

  page(resource: ResourceName, selection: Selection, limit: number, continueToken: string, behind = 0): Page {
    const { objects, log } = this.#shelf(resource);
    const at = this.#replicaVersion(log, behind);
    const undone = behind > 0 ? log.after(at, Number.POSITIVE_INFINITY) : [];
    return objects.page(selection, limit, continueToken, at, log.compacted, undone);
  }

  /** Stores a new or changed object under the next resourceVersion. */
  put(resource: ResourceName, object: StoredObject): StoredObject {
    const shelf = this.#shelf(resource);
    const previous = shelf.objects.get(keyOf(object.metadata.namespace, object.metadata.name));
    const stored = this.#stamp(object);
    shelf.objects.set(stored);
    this.#commit(resource, shelf, previous === undefined ? 'ADDED' : 'MODIFIED', stored, previous);
    return stored;
  }

  /** Removes a stored object; returns its last state with the resourceVersion of the deletion. */
  remove(resource: ResourceName, object: StoredObject): StoredObject {
    const shelf = this.#shelf(resource);
    const last = this.#stamp(object);
    shelf.objects.delete(keyOf(object.metadata.namespace, object.metadata.name));
    this.#commit(resource, shelf, 'DELETED', last, object);
    return last;
  }

  /** Throws 410 if the start was compacted. */
  watch(resource: ResourceName, options: WatchOptions): Watch {
    const { log, watches } = this.#shelf(resource);
    const asked = options.resourceVersion ?? '';
    const fromNow = asked === '' || asked === '0' || options.sendInitialEvents === true;
    const newest = this.#replicaVersion(log, options.behind ?? 0);
    const position = fromNow ? newest : parseVersion(asked);
    if (options.behind && asked !== '' && parseVersion(asked) > newest) throw tooLarge(parseVersion(asked), newest);
    if (position < log.compacted) throw expired(`too old resource version: ${position} (${log.compacted})`);
    const initial = fromNow ? this.page(resource, options, 0, '', options.behind).items : undefined;
    const watch = new Watch(
      {
        resource,
        log,
        clock: this.#clock,
        newest: () => this.#resourceVersion,
        bookmarkIntervalMs: this.#options.bookmarkIntervalMs,
        onClose: (closed) => watches.delete(closed),
      },
      options,
      position,
      initial,
    );
    watches.add(watch);
    return watch;
  }

  /** Compacts the event log: watches and pages that lag behind get 410. */
  compact(): void {
    for (const { log, watches } of this.#shelves.values()) {
      for (const watch of watches) watch.catchUp();
      log.compact(this.#resourceVersion);
      for (const watch of watches) watch.notify();
    }
  }

  backup(): Backup {
    const objects = new Map([...this.#shelves].map(([name, shelf]) => [name, [...shelf.objects.items()]]));
    return { resourceVersion: this.#resourceVersion, objects };
  }

  /** Replaces all objects. Watches break; the history before the restore is compacted. */
  restore({ resourceVersion, objects }: Backup, bumpRevision: number): void {
    this.#resourceVersion = resourceVersion + bumpRevision;
    for (const [name, shelf] of this.#shelves) {
      for (const { metadata } of [...shelf.objects.items()]) {
        shelf.objects.delete(keyOf(metadata.namespace, metadata.name));
      }
      for (const object of objects.get(name) ?? []) shelf.objects.set(object);
      shelf.objects.dropSnapshots();
      for (const watch of [...shelf.watches]) watch.cut('reset');
      shelf.log = new EventLog(this.#options.eventWindow, this.#resourceVersion);
    }
    for (const listener of this.#restoreListeners) listener(objects);
  }

  sendBookmarks(): void {
    for (const { watches } of this.#shelves.values()) for (const watch of watches) watch.sendBookmark();
  }

  /** Ends running watches; returns their number. */
  cutWatches(how: WatchCut, resource?: ResourceName): number {
    let count = 0;
    for (const [name, { watches }] of this.#shelves) {
      if (resource !== undefined && name !== resource) continue;
      count += watches.size;
      for (const watch of [...watches]) watch.cut(how);
    }
    return count;
  }

  /** Registers a listener, called synchronously after every change, in order. */
  onCommit(listener: CommitListener): void {
    this.#listeners.add(listener);
  }

  /** Registers a listener, called after every restore with all objects. */
  onRestore(listener: RestoreListener): void {
    this.#restoreListeners.add(listener);
  }

  #stamp(object: StoredObject): StoredObject {
    this.#resourceVersion++;
    const metadata = Object.freeze({ ...object.metadata, resourceVersion: String(this.#resourceVersion) });
    return Object.freeze({ ...object, metadata });
  }

  #commit(
    resource: ResourceName,
    shelf: Shelf,
    type: LogEntry['type'],
    object: StoredObject,
    previous: StoredObject | undefined,
  ): void {
    const entry: LogEntry = { type, resourceVersion: this.#resourceVersion, object, previous };
    shelf.log.append(entry);
    for (const watch of shelf.watches) watch.notify();
    for (const listener of this.#listeners) listener(resource, entry);
  }

  /** The resourceVersion of a server that lags `behind` changes, limited by the event log. */
  #replicaVersion(log: EventLog, behind: number): number {
    return behind === 0 ? this.#resourceVersion : Math.max(this.#resourceVersion - behind, log.compacted);
  }

  #shelf(resource: ResourceName): Shelf {
    const shelf = this.#shelves.get(resource);
    if (shelf === undefined) throw new TypeError(`unknown resource ${resource}`);
    return shelf;
  }
}

function parseVersion(text: string): number {
  if (!/^\d+$/.test(text)) throw badRequest(`Invalid value: "${text}": must be a resource version`);
  return Number(text);
}
