import { backoffMs, errorMessage, type Logger, orAborted, sleep } from '@sluice/platform';
import { guardIdentity, type StoredIdentities } from '../identity/identity-registry.ts';
import { type ClusterEntry, type ClusterState, type ConnectedCluster, stateOf, unidentified } from './cluster.ts';
import { ClusterConnector, evidenceOf } from './cluster-connector.ts';
import type { ClusterSetOptions, StopReason } from './cluster-set-options.ts';
import type { ClusterCandidate, ClusterSource } from './cluster-source.ts';
import { ConfiguredClusters } from './configured-clusters.ts';

interface Served {
  readonly cluster: ConnectedCluster;
  readonly stopServing: (reason: StopReason) => void;
}

const retry = { baseMs: 500, maxMs: 30_000 };

/**
 * Serves each cluster that the sources list, for as long as it is listed. Clusters are independent: one that is
 * unreachable or invalid delays no other. A cluster's key is its identity; its name is for people. Of two names for one
 * cluster, the later is rejected. A cluster whose identity contradicts the fleet's pinned one is not served (ADR 0053).
 */
export class ClusterSet {
  readonly #options: ClusterSetOptions;
  readonly #configured: ConfiguredClusters;
  readonly #connector: ClusterConnector;
  readonly #entries = new Map<string, ClusterEntry>();
  /** Clusters being served, by name. */
  readonly #served = new Map<string, Served>();
  /** Aborts when this process stops: a store that does not answer must not delay that. */
  readonly #stopping = new AbortController();

  constructor(options: ClusterSetOptions) {
    this.#options = options;
    this.#configured = new ConfiguredClusters(options.sources, options.logger);
    this.#connector = new ClusterConnector(options, this.#stopping.signal);
  }

  /** All clusters, including rejected ones, sorted by name. */
  get states(): readonly ClusterState[] {
    const rejected = this.#configured.invalid.map((entry) => ({ ...unidentified(entry), phase: 'rejected' as const }));
    const all = [...[...this.#entries.values()].map(stateOf), ...rejected];
    return all.sort((a, b) => (a.name < b.name ? -1 : a.name > b.name ? 1 : 0));
  }

  /** Whether each source was read and a connection to each cluster was attempted. */
  get initialized(): boolean {
    return this.#configured.complete && [...this.#entries.values()].every(({ state }) => state.phase !== 'connecting');
  }

  /** What each source is that was read and whose entries can all be used. */
  get readableSources(): ReadonlySet<string> {
    return this.#configured.readable;
  }

  /** What the source is that lists the name. */
  sourceOf(name: string): string | undefined {
    return this.#entries.get(name)?.candidate.source;
  }

  /** Whether every configured cluster is connected, so that an unknown cluster is not one of them. */
  get allConnected(): boolean {
    const isConnected = ({ state: { phase } }: ClusterEntry) => phase === 'serving' || phase === 'stopping';
    return this.#configured.complete && [...this.#entries.values()].every(isConnected);
  }

  /** Runs until `signal` aborts and all clusters are handed over. */
  async run(signal: AbortSignal): Promise<void> {
    const { clock, sources, identities, refreshMs = 5_000 } = this.#options;
    const stop = () => {
      this.#stopping.abort();
      for (const entry of this.#entries.values()) entry.stop.abort('handover' satisfies StopReason);
    };
    signal.addEventListener('abort', stop, { once: true });
    // In parallel, because a slow management cluster must not delay the others.
    const follow = async (source: ClusterSource) => {
      while (!signal.aborted) {
        await this.#configured.read(source, signal);
        if (!signal.aborted) this.#reconcile();
        await sleep(clock, refreshMs, signal);
      }
    };
    const verify = async (identities: StoredIdentities) => {
      while (!signal.aborted) {
        await sleep(clock, refreshMs, signal);
        if (signal.aborted) return;
        await orAborted(this.#verifyIdentities(identities), signal);
      }
    };
    await Promise.all([...sources.map(follow), ...(identities === undefined ? [] : [verify(identities)])]);
    await Promise.all([...this.#entries.values()].map(({ done }) => done));
  }

  /** Starts new clusters, stops removed ones, and wakes those whose candidate changed. */
  #reconcile(): void {
    const { byName, isUnreadable } = this.#configured.list((name) => this.#entries.get(name)?.candidate);
    for (const [name, entry] of this.#entries) {
      const candidate = byName.get(name);
      if (candidate === undefined) {
        if (!isUnreadable(entry.candidate)) entry.stop.abort('removed' satisfies StopReason);
      } else if (candidate.fingerprint !== entry.candidate.fingerprint) {
        entry.candidate = candidate;
        entry.wake.abort();
      }
    }
    for (const [name, candidate] of byName) if (!this.#entries.has(name)) this.#start(name, candidate);
  }

  #start(name: string, candidate: ClusterCandidate): void {
    const entry: ClusterEntry = {
      candidate,
      stop: new AbortController(),
      wake: new AbortController(),
      done: Promise.resolve(),
      state: { ...unidentified({ name, from: candidate.from, reason: '' }), phase: 'connecting' },
    };
    this.#entries.set(name, entry);
    entry.done = this.#connectAndServe(entry)
      .then(() => this.#unpin(entry))
      .finally(() => this.#entries.delete(name));
  }

  /** Lets another cluster take the name of one that is no longer configured. */
  async #unpin({ stop, state: { name } }: ClusterEntry): Promise<void> {
    if (stop.signal.reason !== ('removed' satisfies StopReason)) return;
    try {
      const { identities } = this.#options;
      if (identities !== undefined) await orAborted(identities.release(name), this.#stopping.signal);
    } catch (error) {
      this.#options.logger.warn('cannot unpin the identity of a removed cluster', { cluster: name, error });
    }
  }

  /** Connects to the cluster and serves it, with retries, until it is removed or the set stops. */
  async #connectAndServe(entry: ClusterEntry): Promise<void> {
    const { clock, random, logger } = this.#options;
    const { signal } = entry.stop;
    let reported = '';
    for (let attempt = 0; !signal.aborted; attempt++) {
      entry.wake = new AbortController();
      const { candidate } = entry;
      const opened = await this.#connector.connect(entry);
      if (opened !== undefined && (await this.#serve(entry, candidate, opened))) {
        attempt = -1;
        reported = '';
        continue;
      }
      if (signal.aborted) return;
      const delayMs = Math.round(backoffMs(retry, attempt, random));
      const { name, reason } = entry.state;
      // One line per reason; the metric and `sluice clusters list` show that it lasts.
      const isNews = reason !== reported;
      reported = reason;
      logger[isNews ? 'warn' : 'debug']('cluster unavailable; retrying', { cluster: name, reason, delayMs });
      await sleep(clock, delayMs, AbortSignal.any([signal, entry.wake.signal]));
    }
  }

  /** Stops serving clusters whose identities are in conflict by now. A store that cannot be read changes nothing. */
  async #verifyIdentities(identities: StoredIdentities): Promise<void> {
    const { logger } = this.#options;
    const served = new Map([...this.#served.values()].map(({ cluster }) => [cluster.name, cluster]));
    if (served.size === 0) return;
    try {
      const evidence = new Map([...served].map(([name, cluster]) => [name, evidenceOf(cluster)]));
      for (const [name, reason] of await identities.verify(evidence)) {
        const current = this.#served.get(name);
        if (current === undefined || current.cluster !== served.get(name)) continue;
        logger.error('cluster identity conflict; no longer serving cluster', { cluster: name, reason });
        current.stopServing('handover');
      }
    } catch (error) {
      logger.debug('cannot compare the identities of the clusters with the pinned ones', { error });
    }
  }

  /** Returns false if serving failed. */
  async #serve(entry: ClusterEntry, candidate: ClusterCandidate, cluster: ConnectedCluster): Promise<boolean> {
    const { clock, logger, serve } = this.#options;
    const { name, identity, server, version } = cluster;
    const log = logger.with({ cluster: name });
    const stop = new AbortController();
    const stopServing = (reason: StopReason) => stop.abort(reason);
    const signal = AbortSignal.any([stop.signal, entry.stop.signal]);
    const guarded = guardIdentity(cluster, {
      clock,
      onReplaced: (found) => {
        log.warn('API server address now belongs to another cluster; replacing the cluster', { identity, found });
        stopServing('removed');
      },
    });
    entry.state = { name, from: candidate.from, phase: 'serving', reason: '', identity, server, version };
    entry.pausedBecause = cluster.writesPausedBecause;
    log.info('serving cluster', { identity, server, from: candidate.from });
    this.#served.set(name, { cluster, stopServing });
    const watchingCandidate = this.#stopWhenChanged(entry, candidate, identity, { signal, stopServing });
    let failure = '';
    try {
      const { source } = candidate;
      await serve({ ...guarded, ...(source !== undefined && { source }) }, signal);
    } catch (error) {
      failure = `cluster worker failed: ${errorMessage(error)}`;
      log.error('cluster worker failed; restarting it', { error });
    } finally {
      this.#served.delete(name);
      if (!signal.aborted) stopServing('handover');
      entry.state = { ...entry.state, phase: 'stopping' };
      entry.pausedBecause = undefined;
      await watchingCandidate;
      await cluster.close();
      if (signal.reason === ('removed' satisfies StopReason)) await this.#remove(cluster, log);
      this.#connector.release(identity);
      entry.state = { ...entry.state, phase: failure === '' ? 'connecting' : 'unavailable', reason: failure };
    }
    return failure === '';
  }

  async #remove(cluster: ConnectedCluster, log: Logger): Promise<void> {
    try {
      await this.#options.onRemoved?.(cluster);
      log.info('cluster removed', { identity: cluster.identity });
    } catch (error) {
      log.error('cannot remove the state of the cluster', { identity: cluster.identity, error });
    }
  }

  /**
   * Stops serving once the candidate has changed and a connection with it succeeds. Until then the previous connection
   * stays in use, so a broken kubeconfig does not interrupt service.
   */
  async #stopWhenChanged(
    entry: ClusterEntry,
    served: ClusterCandidate,
    identity: string,
    { signal, stopServing }: { readonly signal: AbortSignal; readonly stopServing: (reason: StopReason) => void },
  ): Promise<void> {
    const { clock, random, logger, open } = this.#options;
    for (let attempt = 0; !signal.aborted; ) {
      await sleep(clock, 2 ** 31 - 1, AbortSignal.any([signal, entry.wake.signal]));
      if (signal.aborted) return;
      entry.wake = new AbortController();
      const { candidate } = entry;
      if (candidate.fingerprint === served.fingerprint) continue;
      try {
        const next = await open(await candidate.load(), signal, entry.state.name);
        await next.close();
        stopServing(next.identity === identity ? 'handover' : 'removed');
      } catch (error) {
        if (signal.aborted) return;
        const reason = `cannot use the changed kubeconfig; keeping the previous one: ${errorMessage(error)}`;
        entry.state = { ...entry.state, reason };
        logger.error('changed kubeconfig does not work; keeping the previous one', {
          cluster: entry.state.name,
          reason,
        });
        await sleep(clock, backoffMs(retry, attempt++, random), AbortSignal.any([signal, entry.wake.signal]));
        entry.wake.abort();
      }
    }
  }
}
