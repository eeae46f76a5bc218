import type { PublishedResourceVersions, ServiceKey, Stamp } from '@sluice/messages';
import type { Controller, EndpointSlice, Endpoints, NodePlacement, NodeTopology, Pod, Service } from '@sluice/model';
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
    readonly unwatched?: readonly string[] | undefined;
  } | null;
  /** Resources that the last complete snapshot lacks because its watcher does not watch them. Default: none. */
  readonly unwatched?: readonly string[] | undefined;
  /** True once a snapshot has ended. Nothing is decided before that (rule A9). */
  readonly complete: boolean;
  /** True if more Changes of the same batch follow the last one. Nothing is decided in between. */
  readonly partial?: true | undefined;
  /** Stamp of the last Change. A Change that is not newer has been applied before. */
  readonly stamp: Stamp;
  /** resourceVersions up to which the last Change has published everything; empty if unknown. */
  readonly resourceVersions: PublishedResourceVersions;
}

/** Fields that exist once. */
interface SingleFields {
  service: ServiceEntry | undefined;
  endpoints: EndpointsEntry | undefined;
  topology: NodeTopology | undefined;
  snapshot: SnapshotState | undefined;
  orphaned: boolean | undefined;
  tombstones: readonly Tombstone[] | undefined;
}

/** Fields that exist once per name. */
interface NamedFields {
  readonly pod: PodEntry;
  readonly slice: SliceEntry;
  readonly controller: ControllerState;
}

type Fields = SingleFields & NamedFields;
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

const none: readonly Tombstone[] = [];
const noEntries: ReadonlyMap<string, never> = new Map<string, never>();

const nothing: Readonly<SingleFields> = {
  service: undefined,
  endpoints: undefined,
  topology: undefined,
  snapshot: undefined,
  orphaned: undefined,
  tombstones: undefined,
};

/**
 * Everything known about one Service. `evolve` and `decide` update a state in place; a caller that needs the former one takes a
 * `copy` first. Values are replaced, never modified, so a value read before an update stays valid.
 *
 * Every setter records the field it changes, so a commit writes only what changed.
 */
export class ServiceState {
  readonly key: ServiceKey;
  #single: SingleFields = { ...nothing };
  /** Created when needed, like all maps here: a process may know a million Services, most of which rest. */
  readonly #named: { -readonly [K in keyof NamedFields]?: Map<string, NamedFields[K]> } = {};
  #changed: Map<string, FieldChange> | undefined;
  #parts: StoredParts | undefined;

  constructor(key: ServiceKey) {
    this.key = key;
  }

  get pods(): ReadonlyMap<string, PodEntry> {
    return this.#named.pod ?? noEntries;
  }

  get slices(): ReadonlyMap<string, SliceEntry> {
    return this.#named.slice ?? noEntries;
  }

  get service(): ServiceEntry | null {
    return this.#single.service ?? null;
  }

  get endpoints(): EndpointsEntry | null {
    return this.#single.endpoints ?? null;
  }

  get topology(): NodeTopology | null {
    return this.#single.topology ?? null;
  }

  get snapshot(): SnapshotState {
    return this.#single.snapshot ?? noSnapshot;
  }

  /** The Service was deleted, or a starting watcher found Endpoints without a Service: delete them (D4, D5). */
  get orphaned(): boolean {
    return this.#single.orphaned === true;
  }

  get tombstones(): readonly Tombstone[] {
    return this.#single.tombstones ?? none;
  }

  controller(controller: Controller): ControllerState {
    return this.#named.controller?.get(controller) ?? initialControllerState;
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
    if (orphaned !== this.orphaned) this.#set('orphaned', '', orphaned || undefined);
  }

  setPod(name: string, entry: PodEntry): void {
    this.#set('pod', name, entry);
  }

  removePod(name: string): void {
    if (this.pods.has(name)) this.#set('pod', name, undefined);
  }

  setSlice(name: string, entry: SliceEntry): void {
    this.#set('slice', name, entry);
  }

  removeSlice(name: string): void {
    if (this.slices.has(name)) this.#set('slice', name, undefined);
  }

  setController(controller: Controller, state: ControllerState): void {
    this.#set('controller', controller, state);
  }

  addTombstone(tombstone: Tombstone): void {
    this.#setTombstones(withTombstone(this.tombstones, tombstone));
  }

  removeTombstone(uid: string): void {
    this.#setTombstones(withoutTombstone(this.tombstones, uid));
  }

  /** Messages were lost, perhaps that a restored cluster has these objects again. */
  clearTombstones(): void {
    if (this.tombstones.length > 0) this.#setTombstones([]);
  }

  /** A state with the same content and no recorded changes. Copies references, not objects. */
  copy(): ServiceState {
    const copy = new ServiceState(this.key);
    copy.#single = { ...this.#single };
    for (const kind of namedKinds) {
      for (const [name, value] of this.#named[kind] ?? []) copy.#assign(kind, name, value);
    }
    return copy;
  }

  /** Removes every field. */
  clear(): void {
    for (const kind of singleKinds) this.#set(kind, '', undefined);
    for (const kind of namedKinds)
      for (const name of [...(this.#named[kind]?.keys() ?? [])]) this.#set(kind, name, undefined);
  }

  /** Takes a stored field whose parts have been joined (see `joinParts`). */
  load({ field, value }: StoredField): void {
    const slash = field.indexOf('/');
    const kind = slash < 0 ? field : field.slice(0, slash);
    this.#storedParts.load(kind, field, value);
    this.#assign(kind as Kind, field.slice(slash + 1), value);
  }

  /** Returns and clears the fields that changed since the last call, each once. */
  drainChanges(): readonly FieldChange[] {
    const changes = [...(this.#changed?.values() ?? [])];
    this.#changed = undefined;
    return changes;
  }

  /** Returns and clears the changes in the form in which a store keeps them, under `key`. */
  drainStoredFields(key: string): StoredField[] {
    const fields: StoredField[] = [];
    for (const [changed, { kind, after }] of this.#changed ?? []) {
      this.#storedParts.split(kind, changed, after, (field, value) => fields.push({ key, field, value }));
    }
    this.#changed = undefined;
    return fields;
  }

  get #storedParts(): StoredParts {
    this.#parts ??= new StoredParts();
    return this.#parts;
  }

  #setTombstones(tombstones: readonly Tombstone[]): void {
    if (tombstones !== this.tombstones) this.#set('tombstones', '', tombstones.length > 0 ? tombstones : undefined);
  }

  #set<K extends Kind>(kind: K, name: string, after: Fields[K] | undefined): void {
    const field = name === '' ? kind : `${kind}/${name}`;
    this.#changed ??= new Map();
    const known = this.#changed.get(field);
    const before = known === undefined ? this.#get(kind, name) : known.before;
    this.#changed.set(field, { kind, name, before, after } as FieldChange);
    this.#assign(kind, name, after);
  }

  #get(kind: Kind, name: string): FieldChange['before'] {
    return isNamed(kind) ? this.#named[kind]?.get(name) : this.#single[kind];
  }

  /** `value` is one of this kind. */
  #assign(kind: Kind, name: string, value: unknown): void {
    if (!isNamed(kind)) {
      const single: Partial<Record<Kind, unknown>> = this.#single;
      single[kind] = value;
      return;
    }
    const maps: { -readonly [K in keyof NamedFields]?: Map<string, unknown> } = this.#named;
    if (value === undefined) {
      maps[kind]?.delete(name);
      return;
    }
    const named = maps[kind] ?? new Map<string, unknown>();
    maps[kind] = named;
    named.set(name, value);
  }
}

const namedKinds = ['pod', 'slice', 'controller'] as const satisfies readonly (keyof NamedFields)[];
const singleKinds = Object.keys(nothing) as readonly (keyof SingleFields)[];

const isNamed = (kind: Kind): kind is keyof NamedFields => kind === 'pod' || kind === 'slice' || kind === 'controller';
