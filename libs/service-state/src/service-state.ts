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
import { type StoredField, StoredParts } from './stored-form.ts';
import { type Tombstone, withoutTombstone, withTombstone } from './tombstones.ts';

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
  /** Stamp of the last Change that contained the slice; null if only an Outcome did. */
  readonly stamp: Stamp | null;
}

export interface EndpointsEntry {
  readonly endpoints: Endpoints;
  /** Stamp of the last Change that contained the object; null if only an Outcome did. */
  readonly stamp: Stamp | null;
}

export interface SnapshotState {
  /** The snapshot in progress, or null. */
  readonly open: {
    readonly since: Stamp;
    /** The watcher's first snapshot after it started. */
    readonly initial: boolean;
    readonly resourceVersions: PublishedResourceVersions;
  } | null;
  /** True once a snapshot has ended. Nothing is decided before that (rule A9). */
  readonly complete: boolean;
  /** Stamp of the last Change. A Change that is not newer has been applied before. */
  readonly stamp: Stamp;
  /** resourceVersions up to which the last Change has published everything; empty if unknown. */
  readonly resourceVersions: PublishedResourceVersions;
}

/** The fields of a state by kind. `pod`, `slice` and `controller` exist once per name. */
interface Fields {
  readonly pod: PodEntry;
  readonly slice: SliceEntry;
  readonly controller: ControllerState;
  readonly service: ServiceEntry;
  readonly endpoints: EndpointsEntry;
  readonly topology: NodeTopology;
  readonly snapshot: SnapshotState;
  readonly orphaned: boolean;
  readonly tombstones: readonly Tombstone[];
}
type Kind = keyof Fields;

/** A field that changed. `name` is the Pod, slice or controller, else empty; an undefined value is an absent field. */
export type FieldChange = {
  [K in Kind]: {
    readonly kind: K;
    readonly name: string;
    readonly before: Fields[K] | undefined;
    readonly after: Fields[K] | undefined;
  };
}[Kind];

const noSnapshot: SnapshotState = {
  open: null,
  complete: false,
  stamp: { epoch: 0, sequence: 0 },
  resourceVersions: { endpoints: '', endpointslices: '' },
};

/**
 * Everything known about one Service. `evolve` and `decide` update a state in place; a caller that needs the former one takes a
 * `copy` first. Values are replaced, never modified, so a value read before an update stays valid.
 *
 * Every setter records the field it changes, so a commit writes only what changed.
 */
export class ServiceState {
  readonly key: ServiceKey;
  readonly #pods = new Map<string, PodEntry>();
  readonly #slices = new Map<string, SliceEntry>();
  readonly #controllers = new Map<Controller, ControllerState>();
  #service: ServiceEntry | null = null;
  #endpoints: EndpointsEntry | null = null;
  #topology: NodeTopology | null = null;
  #snapshot: SnapshotState = noSnapshot;
  #orphaned = false;
  #tombstones: readonly Tombstone[] = [];
  readonly #changed = new Map<string, FieldChange>();
  readonly #parts = new StoredParts();

  constructor(key: ServiceKey) {
    this.key = key;
  }

  get pods(): ReadonlyMap<string, PodEntry> {
    return this.#pods;
  }

  get slices(): ReadonlyMap<string, SliceEntry> {
    return this.#slices;
  }

  get service(): ServiceEntry | null {
    return this.#service;
  }

  get endpoints(): EndpointsEntry | null {
    return this.#endpoints;
  }

  get topology(): NodeTopology | null {
    return this.#topology;
  }

  get snapshot(): SnapshotState {
    return this.#snapshot;
  }

  /** The Service was deleted, or a starting watcher found Endpoints without a Service: delete them (D4, D5). */
  get orphaned(): boolean {
    return this.#orphaned;
  }

  get tombstones(): readonly Tombstone[] {
    return this.#tombstones;
  }

  controller(controller: Controller): ControllerState {
    return this.#controllers.get(controller) ?? initialControllerState;
  }

  setService(entry: ServiceEntry): void {
    this.#set('service', '', entry);
  }

  setEndpoints(entry: EndpointsEntry | null): void {
    this.#set('endpoints', '', entry ?? undefined);
  }

  setTopology(topology: NodeTopology | null): void {
    this.#set('topology', '', topology ?? undefined);
  }

  setSnapshot(snapshot: SnapshotState): void {
    this.#set('snapshot', '', snapshot);
  }

  setOrphaned(orphaned: boolean): void {
    if (orphaned !== this.#orphaned) this.#set('orphaned', '', orphaned || undefined);
  }

  setPod(name: string, entry: PodEntry): void {
    this.#set('pod', name, entry);
  }

  removePod(name: string): void {
    if (this.#pods.has(name)) this.#set('pod', name, undefined);
  }

  setSlice(name: string, entry: SliceEntry): void {
    this.#set('slice', name, entry);
  }

  removeSlice(name: string): void {
    if (this.#slices.has(name)) this.#set('slice', name, undefined);
  }

  setController(controller: Controller, state: ControllerState): void {
    this.#set('controller', controller, state);
  }

  addTombstone(tombstone: Tombstone): void {
    this.#setTombstones(withTombstone(this.#tombstones, tombstone));
  }

  removeTombstone(uid: string): void {
    this.#setTombstones(withoutTombstone(this.#tombstones, uid));
  }

  /** Messages were lost, perhaps that a restored cluster has these objects again. */
  clearTombstones(): void {
    if (this.#tombstones.length > 0) this.#setTombstones([]);
  }

  /** A state with the same content and no recorded changes. Copies references, not objects. */
  copy(): ServiceState {
    const copy = new ServiceState(this.key);
    for (const [name, entry] of this.#pods) copy.#pods.set(name, entry);
    for (const [name, entry] of this.#slices) copy.#slices.set(name, entry);
    for (const [controller, state] of this.#controllers) copy.#controllers.set(controller, state);
    copy.#service = this.#service;
    copy.#endpoints = this.#endpoints;
    copy.#topology = this.#topology;
    copy.#snapshot = this.#snapshot;
    copy.#orphaned = this.#orphaned;
    copy.#tombstones = this.#tombstones;
    return copy;
  }

  /** Removes every field. */
  clear(): void {
    for (const kind of ['service', 'endpoints', 'topology', 'snapshot', 'orphaned', 'tombstones'] as const)
      this.#set(kind, '', undefined);
    for (const name of [...this.#pods.keys()]) this.#set('pod', name, undefined);
    for (const name of [...this.#slices.keys()]) this.#set('slice', name, undefined);
    for (const name of [...this.#controllers.keys()]) this.#set('controller', name, undefined);
  }

  /** Takes a stored field whose parts have been joined (see `joinParts`). */
  load({ field, value }: StoredField): void {
    const slash = field.indexOf('/');
    const kind = slash < 0 ? field : field.slice(0, slash);
    this.#parts.load(kind, field, value);
    this.#assign(kind as Kind, field.slice(slash + 1), value);
  }

  /** Returns and clears the fields that changed since the last call, each once. */
  drainChanges(): readonly FieldChange[] {
    const changes = [...this.#changed.values()];
    this.#changed.clear();
    return changes;
  }

  /** Returns and clears the changes in the form in which a store keeps them, under `key`. */
  drainStoredFields(key: string): StoredField[] {
    const fields: StoredField[] = [];
    for (const [changed, { kind, after }] of this.#changed) {
      this.#parts.split(kind, changed, after, (field, value) => fields.push({ key, field, value }));
    }
    this.#changed.clear();
    return fields;
  }

  #setTombstones(tombstones: readonly Tombstone[]): void {
    if (tombstones !== this.#tombstones) this.#set('tombstones', '', tombstones.length > 0 ? tombstones : undefined);
  }

  #set<K extends Kind>(kind: K, name: string, after: Fields[K] | undefined): void {
    const field = name === '' ? kind : `${kind}/${name}`;
    const known = this.#changed.get(field);
    const before = known === undefined ? this.#get(kind, name) : known.before;
    this.#changed.set(field, { kind, name, before, after } as FieldChange);
    this.#assign(kind, name, after);
  }

  #get(kind: Kind, name: string): FieldChange['before'] {
    switch (kind) {
      case 'pod':
        return this.#pods.get(name);
      case 'slice':
        return this.#slices.get(name);
      case 'controller':
        return this.#controllers.get(name as Controller);
      case 'service':
        return this.#service ?? undefined;
      case 'endpoints':
        return this.#endpoints ?? undefined;
      case 'topology':
        return this.#topology ?? undefined;
      case 'snapshot':
        return this.#snapshot;
      case 'orphaned':
        return this.#orphaned;
      case 'tombstones':
        return this.#tombstones;
    }
  }

  #assign(kind: Kind, name: string, value: unknown): void {
    switch (kind) {
      case 'pod':
        return assign(this.#pods, name, value as PodEntry | undefined);
      case 'slice':
        return assign(this.#slices, name, value as SliceEntry | undefined);
      case 'controller':
        return assign(this.#controllers, name as Controller, value as ControllerState | undefined);
      case 'service':
        this.#service = (value as ServiceEntry | undefined) ?? null;
        return;
      case 'endpoints':
        this.#endpoints = (value as EndpointsEntry | undefined) ?? null;
        return;
      case 'topology':
        this.#topology = (value as NodeTopology | undefined) ?? null;
        return;
      case 'snapshot':
        this.#snapshot = (value as SnapshotState | undefined) ?? noSnapshot;
        return;
      case 'orphaned':
        this.#orphaned = value === true;
        return;
      case 'tombstones':
        this.#tombstones = (value as readonly Tombstone[] | undefined) ?? [];
        return;
    }
  }
}

function assign<K, V>(map: Map<K, V>, key: K, value: V | undefined): void {
  if (value === undefined) map.delete(key);
  else map.set(key, value);
}
