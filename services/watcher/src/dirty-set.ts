import {
  type Cause,
  type Causes,
  mergeCauses,
  noCauses,
  parseServiceKey,
  partitionOf,
  type ServiceKey,
} from '@sluice/messages';
import type { TracedCause } from './change-traces.ts';

/** Why a Service is dirty, that is, what its next Change must contain. */
export type DirtyReason =
  | { readonly kind: 'snapshot'; readonly initial: boolean }
  /** Slices or Endpoints were relisted: objects that were created and deleted between two lists were never seen. */
  | { readonly kind: 'relist' }
  /** The reconciler is to compare its state with the indexer. */
  | { readonly kind: 'digest' }
  | { readonly kind: 'service' | 'topology' }
  | { readonly kind: 'pod'; readonly name: string }
  | ({ readonly kind: 'endpoints'; readonly isWatchEcho?: boolean } & DirtyEndpoints)
  | ({ readonly kind: 'slice'; readonly name: string; readonly isWatchEcho?: boolean } & DirtySlice);

/** Whether the reason is a write of Sluice that the watch shows. The reconciler has its Outcome and does not wait for it. */
export const isWatchEcho = (reason: DirtyReason): boolean => 'isWatchEcho' in reason && reason.isWatchEcho === true;

interface DirtyEndpoints {
  readonly uid: string;
  /** Field manager of the last write, if it is not Sluice. */
  readonly manager?: string | undefined;
}

interface DirtySlice {
  readonly uid: string;
  /** The slice still exists, but its labels assign it to another Service or manager. */
  readonly relabelled: boolean;
  /** Set with `relabelled`: the Service that its label names now; empty if the label is gone. */
  readonly labelledFor?: string | undefined;
  /** Field manager of the last write, if it is not Sluice. */
  readonly manager?: string | undefined;
}

/**
 * Unpublished changes of one Service, by object name. The facts are read from the indexer when the Change is composed, so
 * any number of changes to one object is published once, with its current state.
 */
export interface DirtyEntry {
  readonly key: ServiceKey;
  /** Everything is published, in brackets; the object names below are ignored. */
  snapshot: boolean;
  /** The snapshot is the first one of this watcher. */
  initial: boolean;
  service: boolean;
  topology: boolean;
  readonly pods: Set<string>;
  /** The Endpoints object that changed or was deleted. */
  endpoints: DirtyEndpoints | undefined;
  /** The Change carries a digest of the Service's state. */
  digest: boolean;
  /** Slices that changed or were deleted, by name. */
  readonly slices: Map<string, DirtySlice>;
  /** Nothing but watch echoes so far. They are no cause of what else the Change contains. */
  isWatchEcho: boolean;
  causes: Causes;
  traces: readonly TracedCause[];
}

/** Services of one partition with unpublished changes, in the order in which they became dirty. */
export class DirtySet {
  readonly #entries = new Map<string, DirtyEntry>();

  get size(): number {
    return this.#entries.size;
  }

  has(service: string): boolean {
    return this.#entries.has(service);
  }

  /** Adds a reason to the Service's entry and returns the entry. `service` is the formatted `key`. */
  add(service: string, key: ServiceKey, reason: DirtyReason, cause: Cause | undefined): DirtyEntry {
    let entry = this.#entries.get(service);
    if (entry === undefined) {
      entry = emptyDirtyEntry(key);
      entry.isWatchEcho = isWatchEcho(reason);
      this.#entries.set(service, entry);
    }
    if (entry.isWatchEcho && !isWatchEcho(reason)) {
      entry.isWatchEcho = false;
      entry.causes = noCauses;
      entry.traces = [];
    }
    addReason(entry, reason, entry.isWatchEcho === isWatchEcho(reason) ? cause : undefined);
    return entry;
  }

  /** Formatted keys of the first `limit` Services. */
  first(limit: number): readonly string[] {
    return [...this.#entries.keys().take(limit)];
  }

  /** Removes and returns the Service's entry. */
  take(service: string): DirtyEntry | undefined {
    const entry = this.#entries.get(service);
    this.#entries.delete(service);
    return entry;
  }
}

export function emptyDirtyEntry(key: ServiceKey): DirtyEntry {
  return {
    key,
    snapshot: false,
    initial: false,
    service: false,
    topology: false,
    pods: new Set(),
    endpoints: undefined,
    digest: false,
    slices: new Map(),
    isWatchEcho: false,
    causes: noCauses,
    traces: [],
  };
}

export function addReason(entry: DirtyEntry, reason: DirtyReason, cause: Cause | undefined): void {
  if (cause !== undefined) entry.causes = mergeCauses(entry.causes, { first: [cause], more: 0 });
  switch (reason.kind) {
    case 'snapshot':
      entry.snapshot = true;
      entry.initial ||= reason.initial;
      break;
    case 'relist':
      break;
    case 'digest':
      entry.digest = true;
      break;
    case 'service':
    case 'topology':
      entry[reason.kind] = true;
      break;
    case 'pod':
      entry.pods.add(reason.name);
      break;
    case 'endpoints':
      entry.endpoints = { uid: reason.uid, manager: reason.manager };
      break;
    case 'slice':
      entry.slices.set(reason.name, {
        uid: reason.uid,
        relabelled: reason.relabelled,
        labelledFor: reason.labelledFor,
        manager: reason.manager,
      });
      break;
  }
}

/**
 * Services that a Change was published for, by formatted key. The first Change of a Service must be a snapshot, because
 * the reconciler decides nothing for a Service before it has one.
 */
export class PublishedServices implements Iterable<ServiceKey> {
  readonly #published = new Set<string>();
  /** Services whose last Change left nothing of them: the next one starts with a snapshot again. */
  readonly #emptied = new Set<string>();

  /** Adds a Service and returns whether its next Change must be a snapshot. */
  add(service: string): boolean {
    const needsSnapshot = !this.#published.has(service) || this.#emptied.delete(service);
    this.#published.add(service);
    return needsSnapshot;
  }

  /** Adds a Service whose current state another watcher has published. */
  restore(service: string): void {
    this.#published.add(service);
  }

  markEmptied(service: string): void {
    if (this.#published.has(service)) this.#emptied.add(service);
  }

  delete(service: string): void {
    this.#published.delete(service);
    this.#emptied.delete(service);
  }

  *[Symbol.iterator](): Iterator<ServiceKey> {
    for (const service of [...this.#published]) yield parseServiceKey(service);
  }

  /** One slice of the Services per round, so that `rounds` rounds cover all; at least one Service of each partition. */
  inRound(round: number, rounds: number, partitions: number): readonly ServiceKey[] {
    const byPartition = Map.groupBy(this.#published, (service) => partitionOf(service, partitions));
    return [...byPartition.values()].flatMap((services) => {
      const chosen = services.filter((_, i) => i % rounds === round % rounds);
      return (chosen.length > 0 ? chosen : services.slice(round % services.length).slice(0, 1)).map(parseServiceKey);
    });
  }
}
