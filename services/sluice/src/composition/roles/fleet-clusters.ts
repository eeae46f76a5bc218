import {
  type Cluster,
  ClusterOutages,
  ClusterSet,
  type ClusterSetOptions,
  type ClusterState,
  type ConnectedCluster,
  PendingClusters,
  type StopReason,
} from '@sluice/fleet/clusters';
import type { WriterLimits } from '@sluice/fleet/configuration';
import { isApiError, type Resource } from '@sluice/kubernetes';
import type { ClusterWork } from '@sluice/kubernetes/preflight';
import { aborted } from '@sluice/platform';
import type { Outage } from '@sluice/store';
import type { ClusterPhase, Metrics } from '@sluice/telemetry';
import { drainable, type FairShare, type WritableCluster } from '@sluice/writer';
import { requestShares, writable } from '../writable-cluster.ts';
import { runWatcherRole, type WatcherRoleOptions } from './watcher-role.ts';

interface FleetClustersOptions
  extends Pick<ClusterSetOptions, 'sources' | 'identities' | 'open' | 'guard' | 'clock' | 'random' | 'logger'> {
  /** What this process does with its clusters. */
  readonly work: readonly ClusterWork[];
  readonly watcher: Omit<WatcherRoleOptions, 'cluster' | 'onAvailability' | 'onWatching' | 'onMalformed'>;
  readonly limits: Partial<WriterLimits>;
  readonly metrics: Metrics | undefined;
  readonly partitions: number;
  /** Aborts when the process hands over its partitions. Clusters stay connected until `run` is aborted. */
  readonly stopping: AbortSignal;
  /** Called before a cluster is served. */
  readonly onServed: (cluster: ConnectedCluster) => void;
}

/** The clusters that a process of the fleet watches, writes to, or both, over one connection each. */
export class FleetClusters {
  readonly #options: FleetClustersOptions;
  readonly #set: ClusterSet;
  readonly #outages = new ClusterOutages();
  readonly #watched = new Set<string>();
  readonly #writable = new Map<string, WritableCluster>();
  readonly #pending: PendingClusters;
  readonly #fairShare: FairShare;
  /** Partitions whose plans this process applies. */
  #partitions = 0;

  constructor(options: FleetClustersOptions) {
    this.#options = options;
    this.#pending = new PendingClusters(options.clock);
    this.#fairShare = requestShares(options.limits);
    this.#set = new ClusterSet({ ...options, serve: (cluster, signal) => this.#serve(cluster, signal) });
  }

  get states(): readonly ClusterState[] {
    return this.#set.states;
  }

  /** What each source is that was read and whose entries can all be used. */
  get readableSources(): ReadonlySet<string> {
    return this.#set.readableSources;
  }

  /** What the source is that lists the name. */
  sourceOf(name: string): string | undefined {
    return this.#set.sourceOf(name);
  }

  get initialized(): boolean {
    return this.#set.initialized;
  }

  /** Also whether this process only stands by for others, or cannot know because it is no member of its groups. */
  phases(isMember: boolean): readonly ClusterPhase[] {
    return this.#set.states.map((state) => {
      const current = this.#outages.phaseOf(state);
      if (current.phase !== 'serving' || this.#watched.has(state.identity) || this.#partitions > 0) return current;
      return { name: state.name, phase: isMember ? 'standby' : 'unavailable' };
    });
  }

  /** The cluster to which a plan is applied. Undefined: it is unknown. */
  writable(identity: string): WritableCluster | 'connecting' | undefined {
    const mayConnect = () => this.#pending.mayConnect(identity, this.#set.allConnected);
    return this.#writable.get(identity) ?? (mayConnect() ? 'connecting' : undefined);
  }

  /** Called with 1 when this process starts to apply the plans of a partition, and with -1 when it stops. */
  partitionHeld(change: 1 | -1): void {
    this.#partitions += change;
  }

  /** Names of the clusters to which this process cannot connect. */
  get unavailable(): readonly string[] {
    return this.#set.states.flatMap(({ name, phase }) => (phase === 'unavailable' ? [name] : []));
  }

  /** Runs until `signal` aborts and all clusters are handed over. */
  run(signal: AbortSignal): Promise<void> {
    return this.#set.run(signal);
  }

  async #serve(cluster: ConnectedCluster, signal: AbortSignal): Promise<void> {
    const { work, onServed } = this.#options;
    onServed(cluster);
    const { reachability } = this.#options.watcher;
    const added = reachability?.addCluster(cluster.identity, (probing) => assertUsable(cluster, probing));
    // If one fails, the other ends too, before the connection is closed.
    const failed = new AbortController();
    const served = AbortSignal.any([signal, failed.signal]);
    const running = [
      ...(work.includes('watch') ? [this.#watch(cluster, served)] : []),
      ...(work.includes('write') ? [this.#write(cluster, served)] : []),
    ];
    for (const part of running) part.catch(() => failed.abort('handover' satisfies StopReason));
    await Promise.allSettled(running);
    added?.();
    await Promise.all(running);
  }

  #watch(cluster: ConnectedCluster, served: AbortSignal): Promise<void> {
    const { watcher, metrics } = this.#options;
    const { identity } = cluster;
    const watched = {
      ...watcher,
      cluster,
      onAvailability: (outage: Outage | null) => this.#outages.set(identity, outage),
      onWatching: (watching: boolean) => void (watching ? this.#watched.add(identity) : this.#watched.delete(identity)),
      onMalformed: (resource: Resource) => metrics?.inc('sluice_malformed_objects_total', { identity, resource }),
    };
    return runWatcherRole(watched, served);
  }

  async #write(cluster: ConnectedCluster, served: AbortSignal): Promise<void> {
    const { clock, logger, limits, metrics, partitions, stopping } = this.#options;
    const { identity } = cluster;
    const partitionShare = () => this.#partitions / partitions;
    const writing = drainable(
      writable(cluster, {
        clock,
        logger,
        limits,
        fairShare: this.#fairShare,
        partitionShare,
        ...(metrics && { metrics }),
      }),
    );
    this.#writable.set(identity, writing.cluster);
    this.#pending.connected(identity);
    await aborted(served);
    // At shutdown, the partition workers stop on their own.
    if (stopping.aborted) return;
    this.#writable.delete(identity);
    if (served.reason === ('removed' satisfies StopReason)) this.#pending.removed(identity);
    await writing.drain();
  }
}

/** Rejects if this process cannot work with the cluster now. A quorum read, as the precondition of a write is one. */
export async function assertUsable(
  { identity, reader }: Pick<Cluster, 'identity' | 'reader'>,
  signal: AbortSignal,
): Promise<void> {
  try {
    const found = await reader.identity(signal);
    if (found !== identity) throw new Error(`another cluster answers: ${found}`);
  } catch (error) {
    // An API server that limits the requests of a client does so wherever they come from.
    if (!isApiError(error) || error.status !== 429) throw error;
  }
}
