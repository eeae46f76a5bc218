import type { CountedSlices } from '@sluice/controllers';
import type { Outcome, OutcomeStatus, PlannedMutations } from '@sluice/messages';
import type { Controller, MutationGroup } from '@sluice/model';
import type { Planned, StatePart, Unchanged } from '@sluice/service-state';

/** Metrics of a reconciler, as a port. Called often: implementations are fast and never throw. */
export interface ReconcilerMetrics {
  /** A worker has taken a partition over; what it reports counts until it is closed. */
  open(partition: number): PartitionMetrics;
}

/** Metrics of one partition. `key` is a formatted Service key. */
export interface PartitionMetrics {
  /** A message was applied. */
  applied(kind: 'change' | 'outcome'): void;
  /** A controller's state was restored from the store. */
  restored(key: string, controller: Controller, state: RestoredState): void;
  /** A decision is due; repeated for as long as it is. */
  due(key: string, controller: Controller): void;
  deciding(key: string, controller: Controller): void;
  /** Undefined: the decision failed. */
  decided(key: string, controller: Controller, decided: Decided | undefined): void;
  /** The Outcome of a plan was applied. */
  completed(key: string, controller: Controller, plan: CompletedPlan): void;
  /** Other clients wrote slices of the controller. */
  foreignWrites(key: string, controller: Controller, count: number): void;
  /** A Change of the Service proves that its cluster was restored from a backup. */
  restoreProven(key: string): void;
  /** Whether the key is parked. */
  parked(key: string, controller: Controller, parked: boolean): void;
  /** A state did not match the watcher's digest, in these parts. */
  digestMismatch(parts: readonly StatePart[]): void;
  /** The state of a Service was dropped. */
  dropped(key: string): void;
  close(): void;
}

export type Decided = Planned | Unchanged;

export interface RestoredState {
  readonly counted: CountedSlices | null;
  /** A plan is in flight. */
  readonly deciding: boolean;
  readonly parked: boolean;
}

export interface CompletedPlan {
  readonly outcome: Outcome;
  /** May be worse than the writer's. */
  readonly status: OutcomeStatus;
  readonly groups: readonly MutationGroup[];
  /** The plan is incomplete (E15). */
  readonly incomplete: boolean;
  /** Estimated bytes that all watchers receive for the plan's slices. */
  readonly fanoutBytes: number;
  /** Present if the plan compacts slices. */
  readonly compaction: PlannedMutations['compaction'];
  /** Counts of the decision that made the plan; null for a clean-up (H6). */
  readonly counted: CountedSlices | null;
}

/** Called after each decision; `decided` is undefined if no decision was possible. */
export type OnDecided = (key: string, controller: Controller, decided: Decided | undefined) => void;
