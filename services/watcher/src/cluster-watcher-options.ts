import type { Bus } from '@sluice/bus';
import type { ClusterReader, ReflectorState, Resource } from '@sluice/kubernetes';
import type { Clock, Logger, Random, YieldQueue } from '@sluice/runtime';
import type { Store } from '@sluice/store';
import type { Tracer } from '@sluice/telemetry';

export interface ClusterWatcherOptions {
  /** Identity of the cluster, as ClusterReader tells it. */
  readonly cluster: string;
  readonly epoch: number;
  readonly reader: ClusterReader;
  readonly bus: Bus;
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
  /** Shared by all that a process computes. Default: each goes on as soon as it can. */
  readonly turns?: YieldQueue | undefined;
  /**
   * Between resyncs, each of which tells every Service all over again, so that what went wrong unseen is decided anew
   * (A7). Stretched by a random factor up to 2. Default 12 h.
   */
  readonly resyncPeriodMs?: number;
  /**
   * How often each partition is sent a Change with the digest of some of its Services. It shows that the one before was
   * lost (ADR 0017), and whether the reconciler knows of these Services what the watcher knows (ADR 0019). Default:
   * never.
   */
  readonly comparePeriodMs?: number;
  /** Remembers what was told, so that the next watcher tells only what is new. Default: nothing is remembered. */
  readonly store?: Store;
  readonly onState?: (resource: Resource, state: ReflectorState, detail: string) => void;
  /** Called whenever the API server tells anything of a resource, be it that there is nothing new. */
  readonly onHeard?: (resource: Resource) => void;
  /** Called for each object that was left out because it is malformed. */
  readonly onMalformed?: (resource: Resource) => void;
  /** Default: nothing is traced. */
  readonly tracer?: Tracer | undefined;
}
