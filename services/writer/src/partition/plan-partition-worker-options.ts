import type { Bus, Delivery } from '@sluice/bus';
import type { Outcome, PlannedMutations } from '@sluice/messages';
import type { BackoffOptions, Clock, Logger, Random, YieldQueue } from '@sluice/platform';
import type { Store } from '@sluice/store';
import type { Tracer } from '@sluice/telemetry';
import type { WritableCluster } from '../writable-cluster.ts';

export interface PlanPartitionWorkerOptions {
  readonly partition: number;
  readonly fencingToken: number;
  /**
   * False once the lease on the partition has expired. The worker then sends no request and reports no Outcome.
   * Default: never expires.
   */
  readonly isCurrent?: () => boolean;
  readonly bus: Bus;
  readonly store: Store;
  /**
   * Looks up a cluster by its identity. Returns undefined if the fleet does not have it, and `connecting` while that is
   * unknown because some cluster has not been reached yet.
   */
  readonly cluster: (identity: string) => WritableCluster | 'connecting' | undefined;
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
  /**
   * Shared by all CPU-bound work of the process, so that the event loop stays responsive. Default: the worker does not
   * yield.
   */
  readonly yieldQueue?: YieldQueue | undefined;
  /** Default: no traces. */
  readonly tracer?: Tracer | undefined;
  readonly retry: RetryOptions;
  /**
   * Finished plans are committed at multiples of this interval, in milliseconds. After a crash the next owner reads them
   * again. Default 0: at once.
   */
  readonly commitIntervalMs?: number;
  /** Aborts requests in flight. A worker that stops waits for them until this aborts. */
  readonly requestSignal: AbortSignal;
  /**
   * How long a worker that stops or has failed waits for requests in flight, in milliseconds: one unresponsive cluster must not
   * keep the plans of all others waiting. Default: until `requestSignal` aborts.
   */
  readonly drainMs?: number;
  /** Called when the Outcome of a plan is on the bus. */
  readonly onOutcome?: (plan: PlannedMutations, outcome: Outcome) => void;
  /** Called with the committed offset at the start and whenever it moves. */
  readonly onCheckpoint?: (offset: number, partition: number) => void;
  /** Stores a record that cannot be processed. Awaited before the checkpoint passes the record. */
  readonly onDeadLetter?: (record: Delivery, reason: string) => unknown;
}

export interface RetryOptions {
  readonly backoff: BackoffOptions;
  /**
   * Attempts in total. After the last one the error is thrown and the reconciler decides again on its current state.
   */
  readonly attempts: number;
}
