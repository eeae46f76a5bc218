import type {
  Controller,
  EndpointSlice,
  Endpoints,
  NodePlacement,
  NodeTopology,
  Pod,
  Service,
} from '@sluice/controllers';
import type { PublishedResourceVersions, ServiceKey, Stamp } from '@sluice/messages';
import { type ControllerState, initialControllerState } from './controller-state.ts';
import { type StoredField, StoredParts } from './stored-parts.ts';

export interface PodEntry {
  readonly pod: Pod;
  readonly node: NodePlacement | null;
  readonly stamp: Stamp;
}

export interface ServiceEntry {
  readonly service: Service | null;
  readonly stamp: Stamp;
}

export interface SliceEntry {
  readonly slice: EndpointSlice;
  /** Of the last Change that told of it; null if only an Outcome did. */
  readonly stamp: Stamp | null;
}

export interface EndpointsEntry {
  readonly endpoints: Endpoints;
  readonly stamp: Stamp | null;
}

export interface SnapshotState {
  /** A snapshot that has begun and not ended. */
  readonly open: {
    readonly since: Stamp;
    readonly start: boolean;
    readonly resourceVersions: PublishedResourceVersions;
  } | null;
  /** Some snapshot has ended; before, nothing is decided. */
  readonly complete: boolean;
  /** Of the last Change. First deliveries come in order, so one that is not newer was folded before. */
  readonly stamp: Stamp;
  /** Up to which resourceVersions that Change told everything; empty: not known. */
  readonly resourceVersions: PublishedResourceVersions;
}

const nothingTold: SnapshotState = {
  open: null,
  complete: false,
  stamp: { epoch: 0, sequence: 0 },
  resourceVersions: { endpoints: '', endpointslices: '' },
};

/** Pods known to be gone, so that an older fact that comes late does not bring them back. */
const gonePodsRemembered = 64;
/** Uids of objects known to be deleted, so that a late echo does not bring them back. */
const goneRemembered = 64;

/**
 * All that is known of one Service, as a set of named fields. Every change goes through a setter that notes the field,
 * so a commit writes only what changed, and loading is setting every field that was stored.
 */
export class ServiceState {
  readonly key: ServiceKey;
  readonly pods = new Map<string, PodEntry>();
  /** When the watcher said so, by name; the latest last. */
  readonly gonePods = new Map<string, Stamp>();
  readonly slices = new Map<string, SliceEntry>();
  service: ServiceEntry | null = null;
  endpoints: EndpointsEntry | null = null;
  topology: NodeTopology | null = null;
  snapshot: SnapshotState = nothingTold;
  /** The Service went, or a starting watcher found its Endpoints without it: they are to be deleted (D4, D5). */
  orphaned = false;
  deletedUids: readonly string[] = [];
  readonly #controllers = new Map<Controller, ControllerState>();
  readonly #changed = new Map<string, unknown>();
  readonly #parts = new StoredParts();

  constructor(key: ServiceKey) {
    this.key = key;
  }

  controller(controller: Controller): ControllerState {
    return this.#controllers.get(controller) ?? initialControllerState;
  }

  /** Sets one field; undefined removes it. */
  set(field: string, value: unknown): void {
    this.#changed.set(field, value);
    this.#assign(field, value);
  }

  setPod(name: string, entry: PodEntry): void {
    if (this.gonePods.has(name)) this.set(`gonepod/${name}`, undefined);
    this.set(`pod/${name}`, entry);
  }

  removePod(name: string): void {
    if (this.pods.has(name)) this.set(`pod/${name}`, undefined);
  }

  /** Removes a Pod that the watcher says is gone. */
  setPodGone(name: string, stamp: Stamp): void {
    this.removePod(name);
    if (this.gonePods.has(name)) this.set(`gonepod/${name}`, undefined);
    this.set(`gonepod/${name}`, stamp);
    const [oldest] = this.gonePods.keys();
    if (this.gonePods.size > gonePodsRemembered && oldest !== undefined) this.set(`gonepod/${oldest}`, undefined);
  }

  /** The stamp of the last fact about a Pod, if it is remembered. */
  podStamp(name: string): Stamp | undefined {
    return this.pods.get(name)?.stamp ?? this.gonePods.get(name);
  }

  setSlice(name: string, entry: SliceEntry | undefined): void {
    this.set(`slice/${name}`, entry);
  }

  setController(controller: Controller, state: ControllerState): void {
    this.set(`controller/${controller}`, state);
  }

  rememberDeleted(goneUid: string): void {
    if (goneUid !== '' && !this.deletedUids.includes(goneUid))
      this.set('gone', [...this.deletedUids, goneUid].slice(-goneRemembered));
  }

  /** Takes a field, with its parts joined, as it was stored. */
  load({ field, value }: StoredField): void {
    this.#parts.load(field, value);
    this.#assign(field, value);
  }

  /** Removes every field that may be stored. */
  clear(): void {
    for (const field of ['service', 'endpoints', 'topology', 'snapshot', 'orphaned', 'gone'])
      this.set(field, undefined);
    for (const name of [...this.pods.keys()]) this.set(`pod/${name}`, undefined);
    for (const name of [...this.gonePods.keys()]) this.set(`gonepod/${name}`, undefined);
    for (const name of [...this.slices.keys()]) this.set(`slice/${name}`, undefined);
    for (const controller of [...this.#controllers.keys()]) this.set(`controller/${controller}`, undefined);
  }

  /** What is to be stored of what changed since this was last asked. */
  takeChanges(key: string): StoredField[] {
    const entries: StoredField[] = [];
    for (const [changed, now] of this.#changed) {
      for (const [field, value] of this.#parts.split(changed, now)) entries.push({ key, field, value });
    }
    this.#changed.clear();
    return entries;
  }

  #assign(field: string, value: unknown): void {
    const slash = field.indexOf('/');
    const name = field.slice(slash + 1);
    switch (slash < 0 ? field : field.slice(0, slash)) {
      case 'pod':
        return assign(this.pods, name, value as PodEntry | undefined);
      case 'gonepod':
        return assign(this.gonePods, name, value as Stamp | undefined);
      case 'slice':
        return assign(this.slices, name, value as SliceEntry | undefined);
      case 'controller':
        return assign(this.#controllers, name as Controller, value as ControllerState | undefined);
      case 'service':
        this.service = (value as ServiceEntry | undefined) ?? null;
        return;
      case 'endpoints':
        this.endpoints = (value as EndpointsEntry | undefined) ?? null;
        return;
      case 'topology':
        this.topology = (value as NodeTopology | undefined) ?? null;
        return;
      case 'snapshot':
        this.snapshot = (value as SnapshotState | undefined) ?? nothingTold;
        return;
      case 'orphaned':
        this.orphaned = value === true;
        return;
      case 'gone':
        this.deletedUids = (value as readonly string[] | undefined) ?? [];
        return;
    }
  }
}

function assign<K, V>(map: Map<K, V>, key: K, value: V | undefined): void {
  if (value === undefined) map.delete(key);
  else map.set(key, value);
}
