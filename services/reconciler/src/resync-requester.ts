import { type BusRecord, recordId } from '@sluice/bus';
import { type Change, encodeMessage, parseServiceKey, type ResyncRequest, type Stamp } from '@sluice/messages';
import { awaitsSnapshot, differences, evolve, type ServiceState } from '@sluice/service-state';
import type { PartitionMetrics } from './metrics.ts';
import type { PartitionState } from './partition-state.ts';
import type { PendingResyncs } from './pending-resyncs.ts';
import type { PartitionWorkerOptions } from './worker-options.ts';

/** Minimum time between resyncs of a cluster in the partition because of gaps, in milliseconds. */
const resyncIntervalMs = 1_000;

interface Gap {
  readonly cluster: string;
  /** The missing sequences, for people. */
  readonly missing: string;
}

/** Tracks state of a partition that may be wrong or incomplete and requests resyncs for it. */
export class ResyncRequester {
  readonly #options: PartitionWorkerOptions;
  readonly #metrics: PartitionMetrics | undefined;
  readonly #pending: PendingResyncs;
  /** The last gap of each cluster for which no resync has been requested yet. */
  readonly #gaps = new Map<
    string,
    { readonly missing: string; readonly isKnown: boolean; readonly state: PartitionState }
  >();
  /** Services that were invalidated because of gaps, by formatted key. */
  readonly #invalidated = new Set<string>();
  /** The last proof per cluster that has not been reported to its watcher yet. */
  readonly #restores = new Map<string, { readonly stamp: Stamp; readonly proof: string }>();
  readonly #probe: LivenessProbe;
  /** When a resync of each cluster was last requested because of a gap, on the monotonic clock. */
  readonly #lastResync = new Map<string, number>();

  constructor(options: PartitionWorkerOptions, metrics: PartitionMetrics | undefined, pending: PendingResyncs) {
    this.#options = options;
    this.#metrics = metrics;
    this.#pending = pending;
    this.#probe = new LivenessProbe(options.probeAfterMs ?? Number.POSITIVE_INFINITY);
  }

  /** A Change of the Service has arrived, or its state was restored. */
  observe(key: string, now: number): void {
    this.#probe.observe(key, now);
  }

  /** When a request is due although no message arrives. */
  get dueAt(): number | undefined {
    const { clock } = this.#options;
    const { dueAt: probeAt = Number.POSITIVE_INFINITY } = this.#probe;
    let at = Math.min(probeAt, this.#pending.dueAt ?? Number.POSITIVE_INFINITY);
    // Rounded up: a fraction lost between the two clocks would make a request due that is not sent yet, in a busy loop.
    for (const cluster of this.#gaps.keys())
      at = Math.min(at, clock.now() + Math.ceil(this.#nextResync(cluster) - clock.monotonic()));
    return Number.isFinite(at) ? at : undefined;
  }

  /** A record of the Service is unreadable or failed to apply. */
  reportUnreadable(key: string, reason: string): void {
    this.#pending.add(key, `unreadable record: ${reason}`);
  }

  /** A cluster was proven to be restored from a backup, after the Change with this stamp. Its watcher discards everything known about it (ADR 0051). */
  reportRestore({ key: { cluster }, stamp }: Pick<Change, 'key' | 'stamp'>, proof: string): void {
    this.#restores.set(cluster, { stamp, proof });
  }

  /** A complete snapshot of the Service has been applied. */
  resolve(key: string): void {
    this.#pending.resolve(key);
  }

  /** Changes of a cluster are lost, of unknown Services: invalidates all of its states. */
  reportGap(state: PartitionState, { cluster, missing }: Gap, now: number): void {
    // Reachable: gap in the log
    const isKnown = state.services.values().some(({ key, snapshot }) => key.cluster === cluster && snapshot.complete);
    this.#gaps.set(cluster, { missing, isKnown, state });
    state.gaps.open(cluster);
    for (const [key, service] of state.services) {
      if (service.key.cluster !== cluster) continue;
      evolve(service, messagesLost, now, this.#options.settings);
      this.#invalidated.add(key);
    }
  }

  /** Compares the state with the watcher's digest. A difference means a lost message or a defect. */
  compare(key: string, state: ServiceState, change: Change, now: number): void {
    this.observe(key, now);
    const { logger } = this.#options;
    if (awaitsSnapshot(state, change) && this.#pending.add(key, 'snapshot missing')) {
      // Reachable: snapshot missing
      logger.error('snapshot missing; resyncing', serviceFields(state));
    }
    const parts = differences(state, change, now);
    if (parts.length === 0) return;
    const fields = parts.join(',');
    logger.error('state digest mismatch; resyncing', { ...serviceFields(state), fields });
    this.#metrics?.digestMismatch(parts);
    evolve(state, messagesLost, now, this.#options.settings);
    this.#pending.add(key, `state digest mismatch in ${fields}`);
  }

  /** The state of the Service was dropped. */
  remove(key: string): void {
    this.#invalidated.delete(key);
    this.#probe.remove(key);
  }

  /** A cluster was removed. */
  removeCluster(cluster: string): void {
    this.#gaps.delete(cluster);
    this.#restores.delete(cluster);
    this.#lastResync.delete(cluster);
  }

  /**
   * Publishes all requests that are due and returns the Services whose state was invalidated. Await it before the commit,
   * so that no request is lost.
   */
  async publishRequests(): Promise<readonly string[]> {
    const invalidated = [...this.#invalidated];
    this.#invalidated.clear();
    // Almost always there is nothing to request, and this runs for every record.
    if (this.#gaps.size > 0) await this.#requestClusters();
    if (this.#restores.size > 0) await this.#requestResets();
    for (const [key, reason] of this.#pending.takeDue()) await this.#requestService(key, reason);
    const silent = this.#probe.take(this.#options.clock.now());
    if (silent !== undefined) await this.#requestProbe(silent);
    return invalidated;
  }

  /** At a limited rate per cluster, in case the answers are lost as well. */
  async #requestClusters(): Promise<void> {
    const { partition, logger, clock } = this.#options;
    for (const [cluster, { missing, isKnown, state }] of this.#gaps) {
      if (clock.monotonic() < this.#nextResync(cluster)) continue;
      this.#lastResync.set(cluster, clock.monotonic());
      // With nothing that could be wrong, no Changes need be lost: they may be older than the start of this process.
      if (isKnown) logger.warn('gap in change log; resyncing cluster', { partition, cluster, missing });
      else logger.info('change log begins without a snapshot; resyncing cluster', { partition, cluster, missing });
      const reason = `gap in change log: cluster ${cluster}, missing ${missing}`;
      await this.#publish(resyncRequest({ partition, cluster }, reason, `${this.#id()}/${cluster}`));
      this.#gaps.delete(cluster);
      state.gaps.close(cluster);
    }
  }

  async #requestResets(): Promise<void> {
    const { partition, logger } = this.#options;
    for (const [cluster, { stamp, proof }] of this.#restores) {
      this.#restores.delete(cluster);
      logger.warn('cluster was restored from a backup; requesting a relist', {
        partition,
        cluster,
        proof,
      });
      await this.#publish(
        resyncRequest({ restoredCluster: cluster, stamp }, proof, `${this.#id()}/restored/${cluster}`),
      );
    }
  }

  #nextResync(cluster: string): number {
    return (this.#lastResync.get(cluster) ?? Number.NEGATIVE_INFINITY) + resyncIntervalMs;
  }

  async #requestProbe(key: string): Promise<void> {
    this.#options.logger.info('no recent Change; resyncing service', { key });
    await this.#requestService(key, 'no Change for longer than the digest interval');
  }

  #requestService(key: string, reason: string): Promise<void> {
    return this.#publish(resyncRequest({ key: parseServiceKey(key) }, reason, `${this.#id()}/${key}`));
  }

  async #publish(request: BusRecord): Promise<void> {
    await this.#options.bus.append('requests', 0, [request]);
  }

  #id(): string {
    const { partition, fencingToken, clock } = this.#options;
    return `${partition}/${fencingToken}/${clock.now()}`;
  }
}

const messagesLost = { kind: 'messagesLost' } as const;

const serviceFields = ({ key: { cluster, namespace, service } }: ServiceState) => ({
  cluster,
  service: `${namespace}/${service}`,
});

/**
 * The record that asks the watchers for a resync. `id` is unique per request: a bus may drop a record whose id it has
 * seen, and the answer to an earlier request may be lost by now.
 */
export function resyncRequest(scope: ResyncRequest['scope'], reason: string, id: string): BusRecord {
  const request: ResyncRequest = { kind: 'resync', scope, reason };
  return { key: 'resync', id: recordId('resync', id), headers: {}, payload: encodeMessage(request) };
}

/** Minimum time between two probes, in milliseconds, so that a cluster without watcher causes no flood of requests. */
const probeIntervalMs = 60_000;

/**
 * Finds Services that no watcher publishes. A watcher compares each of its Services from time to time; a Service without
 * any Change for longer than that may have been deleted while its watcher was down, and the deletion was lost. A resync
 * request settles it: the watcher answers with the Service, or with its absence.
 */
export class LivenessProbe {
  /** Time of the last Change or probe by formatted key, the oldest first. */
  readonly #lastSeen = new Map<string, number>();
  readonly #silenceMs: number;
  #lastProbe = Number.NEGATIVE_INFINITY;

  /** `silenceMs`: longer than the interval at which watchers compare each Service. */
  constructor(silenceMs: number) {
    this.#silenceMs = silenceMs;
  }

  /** A Change of the Service has arrived. */
  observe(key: string, now: number): void {
    this.#lastSeen.delete(key);
    this.#lastSeen.set(key, now);
  }

  /** The state of the Service was dropped. */
  remove(key: string): void {
    this.#lastSeen.delete(key);
  }

  /** When the next Service is to be probed. */
  get dueAt(): number | undefined {
    const [oldest] = this.#lastSeen.values();
    if (oldest === undefined) return undefined;
    return Math.max(oldest + this.#silenceMs, this.#lastProbe + probeIntervalMs);
  }

  /** Takes a Service to be probed now, if one is due. */
  take(now: number): string | undefined {
    const { dueAt } = this;
    const [key] = this.#lastSeen.keys();
    if (key === undefined || dueAt === undefined || dueAt > now) return undefined;
    this.#lastProbe = now;
    this.observe(key, now);
    return key;
  }
}
