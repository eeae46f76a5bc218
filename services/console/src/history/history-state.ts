import type { Controller, Endpoints, NodeTopology, Service } from '@sluice/controllers';
import type { PlannedMutations, ServiceKey } from '@sluice/messages';
import {
  defaultSettings,
  evolve,
  type FieldChange,
  initialState,
  type PodEntry,
  type ServiceMessage,
  type ServiceState,
  type SliceEntry,
} from '@sluice/service-state';

/** Why the API server refused a plan. */
interface Refusal {
  readonly message: string;
  /** In milliseconds since the Unix epoch. */
  readonly since: number;
}

/** The state of a Service at one point of its history: the decider's state, and what only people need. */
export class HistoryState {
  /** Changed only by `evolve`. */
  readonly state: ServiceState;
  /** By controller, until one of its plans is applied. */
  readonly refused: Map<Controller, Refusal>;
  /** The last Event TopologyAwareHints…. */
  hints: { readonly reason: string; readonly message: string; readonly at: number } | null = null;
  /** When anything last happened and when anything was last written, in milliseconds since the Unix epoch; 0: never. */
  seenAt = 0;
  appliedAt = 0;

  constructor(state: ServiceState, refused: ReadonlyMap<Controller, Refusal> = new Map()) {
    this.state = state;
    this.refused = new Map(refused);
  }

  static initial(key: ServiceKey): HistoryState {
    return new HistoryState(initialState(key));
  }

  /** A copy that may evolve without changing this one. */
  copy(): HistoryState {
    const copy = new HistoryState(this.state.copy(), this.refused);
    copy.hints = this.hints;
    copy.seenAt = this.seenAt;
    copy.appliedAt = this.appliedAt;
    return copy;
  }

  /** Applies a message of the time `at`, and returns what changed. */
  evolve(message: ServiceMessage, at: number): readonly FieldChange[] {
    evolve(this.state, message, at, defaultSettings);
    return this.state.drainChanges();
  }

  get key(): ServiceKey {
    return this.state.key;
  }

  /** False: the kept history begins in the middle and contains no snapshot, so objects that are absent here may exist. */
  get isComplete(): boolean {
    return this.state.snapshot.complete;
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

  /** True if nothing is left of the Service. */
  get isEmpty(): boolean {
    return this.service === null && this.pods.size === 0 && this.slices.size === 0 && this.endpoints === null;
  }
}
