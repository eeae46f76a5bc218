import type { Bus, Delivery } from '@sluice/bus';
import type { Outcome, PlannedMutations } from '@sluice/messages';
import type { Clock, Logger, Random, YieldQueue } from '@sluice/runtime';
import type { Store } from '@sluice/store';
import type { Tracer } from '@sluice/telemetry';
import type { RetryOptions } from './retrying.ts';
import type { WritableCluster } from './writable-cluster.ts';

export interface LaneWorkerOptions {
  readonly partition: number;
  readonly epoch: number;
  /** False once the lease on the lane has run out; then nothing is sent and nothing reported. Default: it never does. */
  readonly isCurrent?: () => boolean;
  readonly bus: Bus;
  readonly store: Store;
  /**
   * The cluster of that identity; undefined if this fleet does not have it, `connecting` while that is not known, since
   * some cluster has not been reached yet.
   */
  readonly cluster: (identity: string) => WritableCluster | 'connecting' | undefined;
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
  /** Shared by all that a process computes. Default: each lane goes on as soon as it can. */
  readonly turns?: YieldQueue | undefined;
  /** Default: nothing is traced. */
  readonly tracer?: Tracer | undefined;
  readonly retry: RetryOptions;
  /** Aborts requests that are under way; until then a worker that was told to stop waits for them. */
  readonly requests: AbortSignal;
  /** Called when a plan has its Outcome on the bus. */
  readonly onOutcome?: (plan: PlannedMutations, outcome: Outcome) => void;
  /** Told up to where the lane is done with, at the start and whenever that moves. */
  readonly onCheckpoint?: (offset: number, partition: number) => void;
  /** Keeps a record aside that cannot be used; awaited before the checkpoint passes it. */
  readonly onDeadLetter?: (record: Delivery, reason: string) => unknown;
}
