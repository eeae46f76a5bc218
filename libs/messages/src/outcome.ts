import type { Controller, EndpointSlice, Endpoints, WrittenResource } from '@sluice/model';
import type { Causes } from './cause.ts';
import type { PlanId, ServiceKey } from './identifiers.ts';

/** The result of a plan, published to the Service's partition of `changes`. */
export interface Outcome {
  readonly kind: 'outcome';
  readonly key: ServiceKey;
  readonly controller: Controller;
  readonly plan: PlanId;
  readonly status: OutcomeStatus;
  /** One entry per attempted mutation, in the order of groups and mutations. */
  readonly results: readonly MutationResult[];
  /** The API server's error message if the status is not `applied`; for display. */
  readonly message: string;
  readonly causes: Causes;
  readonly decidedAt: number;
  /**
   * When the first request was sent, in milliseconds since the Unix epoch; the plan waited in the writer until then. Absent:
   * none was sent, or a former version does not say.
   */
  readonly startedAt?: number;
  /** Time of the API server's last answer, in milliseconds since the Unix epoch. */
  readonly completedAt: number;
  /** Number of retried requests. */
  readonly retries: number;
  /** The writer's limit of retries permits the next attempt after this time, in milliseconds. Absent: at once. */
  readonly retryAfterMs?: number;
  /**
   * How long the controller should leave the Service alone because the cluster's API server is saturated, in milliseconds.
   * Absent: not at all.
   */
  readonly cooldownMs?: number;
  /** A guard held the plan back, so nothing was written (ADR 0029). */
  readonly heldBack?: true;
}

export type OutcomeStatus =
  | 'applied'
  /** An object differed from the plan's precondition; the results carry the current object. Decide again. */
  | 'conflict'
  /** The API server did not answer or was overloaded until the writer stopped retrying. Decide again, later. */
  | 'unavailable'
  /** The namespace is terminating: nothing more to do (B10). */
  | 'namespaceTerminating'
  /** Rejected permanently (403, 422, …): the key is parked until something changes. */
  | 'rejected';

export interface MutationResult {
  readonly group: number;
  readonly index: number;
  readonly verb: 'create' | 'update' | 'delete';
  readonly resource: WrittenResource;
  readonly name: string;
  readonly status: 'applied' | 'failed';
  /** Metadata of the stored object after a create or update. */
  readonly stored?: {
    readonly uid: string;
    readonly resourceVersion: string;
    readonly generation: number;
    /** RFC 3339. */
    readonly creationTimestamp?: string;
  };
  /**
   * The current object, null if it does not exist: set after a conflict, when a create was confirmed only by reading the object
   * back, or when finalizers hold a deletion back. Absent if the read failed.
   */
  readonly current?: Endpoints | EndpointSlice | null;
  readonly error?: string;
}
