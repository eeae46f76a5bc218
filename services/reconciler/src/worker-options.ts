import type { Bus, Delivery } from '@sluice/bus';
import type { Clock, Logger, Random, YieldQueue } from '@sluice/platform';
import type { Settings } from '@sluice/service-state';
import type { Store } from '@sluice/store';
import type { Tracer } from '@sluice/telemetry';
import type { OnDecided, ReconcilerMetrics } from './metrics.ts';

export interface PartitionWorkerOptions {
  readonly partition: number;
  /** Fencing token of the lease under which this worker owns the partition; the epoch of its plans. */
  readonly fencingToken: number;
  /** False once the lease has expired; then nothing is published. Default: it never expires. */
  readonly isCurrent?: () => boolean;
  /** False if a worker has decided under this fencing token before. Default: true. */
  readonly isFirstRun?: boolean;
  readonly bus: Bus;
  readonly store: Store;
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
  readonly settings: Settings;
  /**
   * Work without a plan is committed at multiples of this interval, in milliseconds. After a crash the next owner applies
   * what was not committed again. Default 0: at once.
   */
  readonly commitIntervalMs?: number;
  /** The store ends with this process, so plans are not committed before they are published. Default: false. */
  readonly isVolatile?: boolean;
  /**
   * Resync a Service that has had no Change for this long, in milliseconds; longer than the interval at which watchers
   * compare each Service. Default: never.
   */
  readonly probeAfterMs?: number;
  /** Shared by the workers of a process, so that each yields to the others. Default: none. */
  readonly yieldQueue?: YieldQueue;
  /** Default: none. */
  readonly metrics?: ReconcilerMetrics;
  readonly onDecided?: OnDecided;
  /** Default: no traces. */
  readonly tracer?: Tracer | undefined;
  /** Called with the committed offset, at the start and whenever it advances. */
  readonly onCheckpoint?: (offset: number, partition: number) => void;
  /** Keeps a record that cannot be applied; awaited before the checkpoint passes it. */
  readonly onDeadLetter?: (record: Delivery, reason: string) => unknown;
}
