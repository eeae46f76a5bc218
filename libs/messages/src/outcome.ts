import type { Controller, EndpointSlice, Endpoints, WrittenResource } from '@sluice/controllers';
import type { Causes } from './cause.ts';
import type { PlanId } from './planned-mutations.ts';
import type { ServiceKey } from './service-key.ts';

/** What became of a plan. It goes back to the Service's partition of `changes`, like anything else that happened. */
export interface Outcome {
  readonly kind: 'outcome';
  readonly key: ServiceKey;
  readonly controller: Controller;
  readonly plan: PlanId;
  readonly status: OutcomeStatus;
  /** One entry per mutation that was tried, in the order of groups and mutations. */
  readonly results: readonly MutationResult[];
  /** For people, where status is not `applied`: the API server's words. */
  readonly message: string;
  readonly causes: Causes;
  readonly decidedAt: number;
  /** When the last answer of the API server was in, in milliseconds since the Unix epoch. */
  readonly completedAt: number;
  /** Requests that had to be repeated. */
  readonly retries: number;
}

export type OutcomeStatus =
  | 'applied'
  /** Something was not as assumed; the results carry what is there now. Decide again. */
  | 'conflict'
  /** The API server did not answer or was overloaded, for as long as the writer was willing to try. Decide again, later. */
  | 'unavailable'
  /** The namespace is going away: nothing more to do (B10). */
  | 'namespaceTerminating'
  /** Refused for good (403, 422, …): the key is parked until something changes. */
  | 'rejected';

export interface MutationResult {
  readonly group: number;
  readonly index: number;
  readonly verb: 'create' | 'update' | 'delete';
  readonly resource: WrittenResource;
  readonly name: string;
  readonly status: 'applied' | 'failed';
  /** Of the object as stored now, where it was created or updated. */
  readonly stored?: { readonly uid: string; readonly resourceVersion: string; readonly generation: number };
  /**
   * After a conflict, or where only reading it back showed that it was created: the object as it is, null if there is
   * none. Absent if that could not be learned.
   */
  readonly current?: Endpoints | EndpointSlice | null;
  readonly error?: string;
}
