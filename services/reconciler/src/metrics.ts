import type { Controller, CountedSlices, MutationGroup } from '@sluice/controllers';
import type { Outcome, OutcomeStatus } from '@sluice/messages';
import type { Decided, StatePart } from '@sluice/service-state';

/** What a reconciler tells of its work, as a port. It is called often: implementations are quick and never throw. */
export interface ReconcilerMetrics {
  /** A worker has taken a partition over; what it tells counts until it is closed. */
  open(partition: number): PartitionMetrics;
}

/** One partition. `key` is the formatted key of a Service. */
export interface PartitionMetrics {
  folded(kind: 'change' | 'outcome'): void;
  /** What the store holds of a controller's state at the takeover. */
  restored(key: string, controller: Controller, state: RestoredState): void;
  /** Something is to be decided now; said again for as long as that is so. */
  due(key: string, controller: Controller): void;
  deciding(key: string, controller: Controller): void;
  /** Undefined: no decision could be made. */
  decided(key: string, controller: Controller, decided: Decided | undefined): void;
  /** What became of a plan. */
  settled(key: string, controller: Controller, settled: Settled): void;
  /** Whether the key is given up for now. */
  parked(key: string, controller: Controller, parked: boolean): void;
  /** A view was found to differ from what the watcher knows, in these parts. */
  differed(parts: readonly StatePart[]): void;
  /** Nothing is left of the Service. */
  dropped(key: string): void;
  close(): void;
}

export interface RestoredState {
  readonly counted: CountedSlices | null;
  /** A plan is in flight. */
  readonly deciding: boolean;
  readonly parked: boolean;
}

export interface Settled {
  readonly outcome: Outcome;
  /** As it was judged, which may be worse than the writer thought. */
  readonly status: OutcomeStatus;
  readonly groups: readonly MutationGroup[];
  /** Something kept the plan from being complete (E15). */
  readonly incomplete: boolean;
  /** Of the decision that made the plan; null for a clean-up (H6). */
  readonly counted: CountedSlices | null;
}

export const noPartitionMetrics: PartitionMetrics = {
  folded() {},
  restored() {},
  due() {},
  deciding() {},
  decided() {},
  settled() {},
  parked() {},
  differed() {},
  dropped() {},
  close() {},
};
