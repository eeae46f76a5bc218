import { type Bus, type BusLimits, MemoryBus, NetworkedBus } from '@sluice/bus';
import { type FakeApiServer, FakeClient, type FaultPlan } from '@sluice/fake-apiserver';
import { type ClusterReader, chainReader, mapWatch } from '@sluice/kubernetes';
import { seededRandom, silentLogger, sleep, type VirtualClock } from '@sluice/platform';
import { type ReconcilerOptions, runReconciler } from '@sluice/reconciler';
import { defaultSettings, type Settings } from '@sluice/service-state';
import { MemoryStore, type Store } from '@sluice/store';
import { ClusterWatcher } from '@sluice/watcher';
import { defaultRetry, runWriter, unlimited, type WritableCluster } from '@sluice/writer';

export interface FleetOptions {
  readonly server: FakeApiServer;
  readonly clock: VirtualClock;
  readonly seed: number;
  readonly faults?: FaultPlan;
  readonly settings?: Settings;
  /** Default: an empty store. */
  readonly store?: MemoryStore;
  /** Backlog limit of the bus. */
  readonly maxBacklog?: number;
  /** Delivers messages by reference, as all-in-one does. Default: encoded. */
  readonly byReference?: boolean;
  /** Sizes that the bus accepts; larger messages are sent in chunks. Default: no limits. */
  readonly limits?: BusLimits;
  /** Wraps the bus of the services. */
  readonly wrapBus?: (bus: Bus) => Bus;
  readonly comparePeriodMs?: number;
  /** Options of the reconciler. */
  readonly observe?: Pick<ReconcilerOptions, 'metrics' | 'onDecided'>;
  /** Fencing token of every lease. Two fleets of one test need different ones. Default: 1. */
  readonly fencingToken?: number;
  /** Gives the watcher the store too. Default: false. */
  readonly storesPublishedState?: boolean;
  /** Options of the writer besides the cluster's client. */
  readonly writable?: Partial<WritableCluster>;
  /** Delay of every watch event, in milliseconds of the clock. Default: none. */
  readonly watchDelayMs?: number;
  /** Publishes also what endpoints do not depend on, as `sluice observe` does. Default: false. */
  readonly recordEachEvent?: boolean;
  /** Wraps the watcher's client of the cluster. The writer's stays as it is. */
  readonly wrapReader?: (reader: ClusterReader) => ClusterReader;
}

export interface Fleet {
  readonly watcher: ClusterWatcher;
  readonly bus: Bus;
  readonly store: Store;
  stop(): Promise<void>;
}

export const partitions = 2;

/** Watcher, reconciler and writer on a fake cluster, with an empty bus and store. */
export function startFleet(options: FleetOptions): Fleet {
  const { server, clock, seed, faults, settings = defaultSettings, store = new MemoryStore() } = options;
  const { maxBacklog, wrapBus, comparePeriodMs: digestPeriodMs, observe, byReference = false } = options;
  const { limits, fencingToken = 1, recordEachEvent } = options;
  const memory = new MemoryBus({
    partitions,
    byReference,
    ...(maxBacklog !== undefined && { maxBacklog }),
    ...(limits && { limits }),
  });
  const networked = limits ? new NetworkedBus(memory, { clock, logger: silentLogger }) : memory;
  const bus = wrapBus?.(networked) ?? networked;
  const cluster = new FakeClient(server, { clock, ...(faults && { faults }) });
  const stop = new AbortController();
  const requests = new AbortController();
  const ports = { clock, random: seededRandom(seed), logger: silentLogger, bus };
  const { watchDelayMs, wrapReader = (reader) => reader } = options;
  const work = { ...ports, store, partitions: [...Array(partitions).keys()] };
  const watcher = new ClusterWatcher({
    ...ports,
    cluster: server.identity,
    ...{ fencingToken, recordEachEvent },
    reader: wrapReader(watchDelayMs === undefined ? cluster : delayWatches(cluster, clock, watchDelayMs)),
    ...(digestPeriodMs !== undefined && { digestPeriodMs }),
    ...(options.storesPublishedState && { store }),
  });
  const writable = { writer: cluster, limit: unlimited, record: () => {}, ...options.writable };
  const running = Promise.all([
    watcher.run(stop.signal),
    runReconciler({ ...work, fencingToken, settings, ...observe }, stop.signal),
    runWriter(
      { ...work, fencingToken, cluster: () => writable, retry: defaultRetry, requestSignal: requests.signal },
      stop.signal,
    ),
  ]);
  return {
    watcher,
    bus,
    store: work.store,
    async stop() {
      stop.abort();
      requests.abort();
      await bus.close();
      await running;
    },
  };
}

function delayWatches(cluster: FakeClient, clock: VirtualClock, delayMs: number): ClusterReader {
  return chainReader(cluster, async (request, next) =>
    mapWatch(request, await next(request), async function* (stream) {
      for await (const events of stream) {
        await sleep(clock, delayMs);
        yield events;
      }
    }),
  );
}
