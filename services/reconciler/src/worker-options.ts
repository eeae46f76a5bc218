import type { Bus, Delivery } from '@sluice/bus';
import type { Clock, Logger, Random, YieldQueue } from '@sluice/runtime';
import type { Settings } from '@sluice/service-state';
import type { Store } from '@sluice/store';
import type { Tracer } from '@sluice/telemetry';
import type { ReconcilerMetrics } from './metrics.ts';

export interface PartitionWorkerOptions {
  readonly partition: number;
  /** Of the lease under which this worker owns the partition. */
  readonly epoch: number;
  /** False once the lease on the partition has run out; then nothing is published. Default: it never does. */
  readonly isCurrent?: () => boolean;
  /** False if plans were decided under this epoch before. Default: true. */
  readonly isNewEpoch?: boolean;
  readonly bus: Bus;
  readonly store: Store;
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
  readonly settings: Settings;
  /**
   * How long what led to no plan may wait for a commit that others share, in milliseconds; who takes over after a crash
   * folds it again. Default: 0.
   */
  readonly commitDelayMs?: number;
  /**
   * A Service of which nothing was told for so long is asked for, in milliseconds; longer than watchers take to compare each
   * one. Default: never.
   */
  readonly unheardMs?: number;
  /** Shared by the workers of a process. Default: each goes on as soon as it can. */
  readonly turns?: YieldQueue;
  /** Default: nobody counts. */
  readonly metrics?: ReconcilerMetrics;
  /** Default: nothing is traced. */
  readonly tracer?: Tracer | undefined;
  /** Told up to where the partition is done with, at the start and whenever that moves. */
  readonly onCheckpoint?: (offset: number, partition: number) => void;
  /** Keeps a record aside that cannot be used; awaited before the checkpoint passes it. */
  readonly onDeadLetter?: (record: Delivery, reason: string) => unknown;
}
