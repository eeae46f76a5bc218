import type { Bus } from '@sluice/bus';
import type { ClusterReader, ListBudget, ReflectorState, Resource } from '@sluice/kubernetes';
import type { Clock, Logger, Random, Semaphore, YieldQueue } from '@sluice/platform';
import type { Outage, Store } from '@sluice/store';
import type { Tracer } from '@sluice/telemetry';

/** Background compaction of one cluster's slices. */
export interface CompactionOptions {
  /** Maximum number of writes in any hour. */
  readonly writesPerHour: number;
  readonly maxEndpointsPerSlice: number;
}

export interface ClusterWatcherOptions {
  /** Identity of the cluster, as returned by ClusterReader.identity. */
  readonly cluster: string;
  /** Fencing token of this watcher's lease; increases with each take-over. */
  readonly fencingToken: number;
  readonly reader: ClusterReader;
  readonly bus: Bus;
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
  /** Shared by all work of the process that must not block the event loop. Default: no yielding. */
  readonly yieldQueue?: YieldQueue | undefined;
  /** Caches sync and stay current, but nothing is published before this resolves. Default: publish once they are synced. */
  readonly publishAfter?: Promise<unknown> | undefined;
  /**
   * Time between resyncs, each of which publishes every Service again, so that undetected errors are corrected (A7).
   * Stretched by a random factor of up to 2. Default 12 h.
   */
  readonly resyncPeriodMs?: number;
  /**
   * How often each partition gets a Change with the digest of some of its Services. The Change reveals that the previous
   * one was lost, and the digest reveals that the reconciler's state differs (ADR 0009). Default: never.
   */
  readonly digestPeriodMs?: number;
  /** A Service's digest is persisted after this much time without changes, so a busy Service causes no store writes. Default: 10 s. */
  readonly digestQuietPeriodMs?: number | undefined;
  /** Default: slices are not compacted in the background. */
  readonly compaction?: CompactionOptions | undefined;
  /** Bounds the memory for the objects of the cluster. Default: 1 GiB. */
  readonly listBudget?: ListBudget;
  /** Shared by all watchers of the process. Default: the cluster is listed at once. */
  readonly listing?: Semaphore | undefined;
  /** Keeps the published state, so that the next watcher publishes only changes. Default: none. */
  readonly store?: Store;
  readonly onState?: (resource: Resource, state: ReflectorState, detail: string) => void;
  /**
   * For a bus in this process that only records: each event is a Change of its own, and Pods have their details. Default: events
   * that arrive together become one Change of their Service.
   */
  readonly recordEachEvent?: boolean | undefined;
  /** Called for each list, watch event and bookmark of a resource. */
  readonly onProgress?: (resource: Resource) => void;
  /** Called when the API server stops answering, and with null when it answers again. */
  readonly onAvailability?: ((outage: Outage | null) => void) | undefined;
  /** Called once every reader of the bus has discarded what it knows of the cluster, because that was restored from a backup. */
  readonly onReset?: (() => void) | undefined;
  /** Called for each malformed object, which is skipped. */
  readonly onMalformed?: (resource: Resource) => void;
  /** Default: no traces. */
  readonly tracer?: Tracer | undefined;
}
