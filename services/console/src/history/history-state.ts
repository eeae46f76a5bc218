import type { Fact, PlannedMutations, ServiceKey, SimilarPods } from '@sluice/messages';
import type { Controller, Endpoints, NodeTopology, Service } from '@sluice/model';
import {
  decideUnchanged,
  evolve,
  type FieldChange,
  initialState,
  type PodEntry,
  type ServiceMessage,
  type ServiceState,
  type Settings,
  type SliceEntry,
  stateBefore,
} from '@sluice/service-state';
import type { Observation } from '../view/entry-schemas.ts';

/** Why the API server refused a plan. */
interface Refusal {
  readonly message: string;
  /** In milliseconds since the Unix epoch. */
  readonly since: number;
}

interface Repair {
  /** Empty if they were not observed. */
  readonly writes: readonly Observation[];
  /** Names of the objects that the plan writes. */
  readonly objects: readonly string[];
  readonly at: number;
}

/** The state of a Service at one point of its history: the decider's state and refusals. */
export class HistoryState {
  #state: ServiceState;
  #isRemoved = false;
  /** By controller, until one of its plans succeeds or a Change makes it obsolete. */
  readonly refused: Map<Controller, Refusal>;
  /** The last writes of other clients to slices and Endpoints, as their observations say. */
  otherWrites: readonly Observation[] = [];
  /** The last plan that repairs what another client wrote. */
  repair: Repair | null = null;
  /** Pods whose labels resemble the selector, while it matches none. */
  similarPods: SimilarPods | undefined;
  /** Field managers of the last writes, if they are not Sluice, by kind and name of the object. */
  #managers = new Map<string, string>();
  /** Time of the last cause or Outcome, in milliseconds since the Unix epoch; 0 if there is none. */
  lastEventAt = 0;

  constructor(state: ServiceState, refused: ReadonlyMap<Controller, Refusal> = new Map()) {
    this.#state = state;
    this.refused = new Map(refused);
  }

  static initial(key: ServiceKey): HistoryState {
    return new HistoryState(initialState(key));
  }

  /** An independent copy. */
  copy(): HistoryState {
    const copy = new HistoryState(this.state.copy(), this.refused);
    copy.#isRemoved = this.#isRemoved;
    copy.#managers = new Map(this.#managers);
    copy.otherWrites = this.otherWrites;
    copy.repair = this.repair;
    copy.similarPods = this.similarPods;
    copy.lastEventAt = this.lastEventAt;
    return copy;
  }

  /** The decider's state. Changed only by `evolve` and `discard`. */
  get state(): ServiceState {
    return this.#state;
  }

  /** Makes the decisions without a plan that were due until then. */
  decideUnchanged(until: number, settings: Settings): void {
    decideUnchanged(this.state, until, settings);
    this.state.drainChanges();
  }

  /** Applies a message of the time `at` and returns the changed fields. */
  evolve(message: ServiceMessage, at: number, settings: Settings): readonly FieldChange[] {
    if (message.kind !== 'mutations') this.decideUnchanged(at, settings);
    return this.evolveUndecided(message, at, settings);
  }

  /** The same, without the decisions that were due before the message. */
  evolveUndecided(message: ServiceMessage, at: number, settings: Settings): readonly FieldChange[] {
    if (message.kind === 'change') this.#state = stateBefore(this.state, message, at);
    evolve(this.state, message, at, settings);
    const changes = this.state.drainChanges();
    if (message.kind === 'change' && changes.length > 0) this.#isRemoved = false;
    return changes;
  }

  /** Discards everything, because the cluster was removed. */
  discard(): void {
    this.#state = initialState(this.key);
    this.#isRemoved = true;
    this.refused.clear();
    this.similarPods = undefined;
    this.#managers.clear();
  }

  /** Remembers what a Change says besides the decider's state. */
  remember(facts: readonly Fact[]): void {
    for (const fact of facts) {
      if (fact.kind === 'service') this.similarPods = fact.similarPods;
      if (fact.kind !== 'slice' && fact.kind !== 'endpoints') continue;
      const object = `${fact.kind}/${fact.kind === 'slice' ? fact.name : this.key.service}`;
      const exists = (fact.kind === 'slice' ? fact.slice : fact.endpoints) !== null;
      if (exists && fact.manager !== undefined) this.#managers.set(object, fact.manager);
      else this.#managers.delete(object);
    }
  }

  /** Field manager of the last write to this object, if it is known and not Sluice. */
  managerOf(kind: 'slice' | 'endpoints', name: string): string | undefined {
    return this.#managers.get(`${kind}/${name}`);
  }

  /** Whether the cluster was removed, and nothing was published of the Service since. */
  get isRemoved(): boolean {
    return this.#isRemoved;
  }

  /** Drops refusals that a Change has made obsolete: a decision follows, which is refused again or needs no write. */
  dropOldRefusals(): void {
    for (const controller of this.refused.keys()) {
      const { inFlight, retries } = this.state.controller(controller);
      if (retries.parked === null && inFlight === null) this.refused.delete(controller);
    }
  }

  get key(): ServiceKey {
    return this.state.key;
  }

  /** False if the history contains no snapshot: objects that are missing here may exist. */
  get isComplete(): boolean {
    return this.state.snapshot.complete;
  }

  /** False if only the slices show in which zones Pods are. */
  get hasNodes(): boolean {
    return this.state.snapshot.unwatched?.includes('nodes') !== true;
  }

  get service(): Service | null {
    return this.state.service?.service ?? null;
  }

  get pods(): ReadonlyMap<string, PodEntry> {
    return this.state.pods;
  }

  get slices(): ReadonlyMap<string, SliceEntry> {
    return this.state.slices;
  }

  get endpoints(): Endpoints | null {
    return this.state.endpoints?.endpoints ?? null;
  }

  get topology(): NodeTopology | null {
    return this.state.topology;
  }

  /** The controller's plan whose Outcome is pending. */
  planOf(controller: Controller): PlannedMutations | undefined {
    return this.state.controller(controller).inFlight?.message;
  }

  /** True if neither the Service nor any of its objects exists. */
  get isEmpty(): boolean {
    return this.service === null && this.pods.size === 0 && this.slices.size === 0 && this.endpoints === null;
  }
}
