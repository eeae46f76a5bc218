import { type ClusterAccess, chainReader, chainWriter, IdentityGuard } from '@sluice/kubernetes';
import { backoffMs, type Clock, errorMessage, type Logger, type Random, sleep } from '@sluice/runtime';
import type { ClusterCandidate, ClusterSource, SourceReading } from './cluster-source.ts';
import type { ClusterState } from './cluster-state.ts';
import type { ConnectedCluster } from './connect.ts';
import { uniqueNames, unreadableCandidates } from './unique-names.ts';

/** Why serving a cluster stops. */
export type StopReason =
  /** This process exits, or the connection to the cluster changes. */
  | 'handover'
  /** The cluster is not configured anymore, or its identity changed: its state is removed. */
  | 'removed';

export interface ClusterSetOptions {
  readonly sources: readonly ClusterSource[];
  /** Reaches a cluster and asks it who it is. Fails with the reason in words, or when `signal` aborts. */
  readonly open: (access: ClusterAccess, signal: AbortSignal) => Promise<ConnectedCluster>;
  /** Works with a cluster until `signal` aborts, with an Ending as its reason, and what was under way is done. */
  readonly serve: (cluster: ConnectedCluster, signal: AbortSignal) => Promise<unknown>;
  /** Called once a removed cluster has been drained. */
  readonly onRemoved?: (cluster: ConnectedCluster) => Promise<unknown>;
  /** Between looks at the sources, in milliseconds. Default 5,000. */
  readonly refreshMs?: number;
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
}

/** One name, and what is done under it. */
interface Entry {
  candidate: ClusterCandidate;
  readonly stop: AbortController;
  /** Wakes a pause between tries: the way to reach the cluster may be right now. */
  wake: AbortController;
  done: Promise<void>;
  state: ClusterState;
}

const retry = { baseMs: 500, maxMs: 30_000 };

/**
 * The clusters that the sources name, each served for itself for as long as it is named: one that cannot be reached, or of
 * which nothing can be made, holds up no other. A cluster is known by its identity; its name is for people. Two names
 * for one cluster are one too many, and the later is refused.
 */
export class ClusterSet {
  readonly #options: ClusterSetOptions;
  readonly #entries = new Map<string, Entry>();
  /** By identity, those that are served; also while they are drained. */
  readonly #holders = new Map<string, Entry>();
  readonly #problems = new Map<ClusterSource, readonly ClusterState[]>();
  readonly #readings = new Map<ClusterSource, SourceReading>();
  #duplicates: readonly ClusterState[] = [];

  constructor(options: ClusterSetOptions) {
    this.#options = options;
  }

  /** Of all clusters, by name; what the sources name without being one included. */
  get states(): readonly ClusterState[] {
    const all = [
      ...[...this.#entries.values()].map(({ state }) => state),
      ...[...this.#problems.values()].flat(),
      ...this.#duplicates,
    ];
    return all.sort((a, b) => (a.name < b.name ? -1 : a.name > b.name ? 1 : 0));
  }

  /** All sources have been read, and of each cluster it is known whether it can be reached. */
  get settled(): boolean {
    if (this.#readings.size < this.#options.sources.length) return false;
    return [...this.#entries.values()].every(({ state }) => state.phase !== 'connecting');
  }

  /** Whether a cluster that is not known here may turn out to be one that could not be reached yet. */
  get complete(): boolean {
    if (this.#readings.size < this.#options.sources.length) return false;
    return [...this.#entries.values()].every(({ state }) => state.phase === 'serving' || state.phase === 'draining');
  }

  /** Runs until `signal` aborts and everything is handed over. */
  async run(signal: AbortSignal): Promise<void> {
    const { clock, sources, refreshMs = 5_000 } = this.#options;
    const stop = () => {
      for (const entry of this.#entries.values()) entry.stop.abort('handover' satisfies StopReason);
    };
    signal.addEventListener('abort', stop, { once: true });
    // Each for itself: a management cluster that does not answer holds up no directory.
    const follow = async (source: ClusterSource) => {
      while (!signal.aborted) {
        await this.#read(source, signal);
        if (!signal.aborted) this.#settle();
        await sleep(clock, refreshMs, signal);
      }
    };
    await Promise.all(sources.map(follow));
    await Promise.all([...this.#entries.values()].map(({ done }) => done));
  }

  /** A source that cannot be read leaves its clusters as they are: that nothing is known of them does not remove them. */
  async #read(source: ClusterSource, signal: AbortSignal): Promise<void> {
    try {
      const reading = await source.read(signal);
      this.#readings.set(source, reading);
      const known = new Set((this.#problems.get(source) ?? []).map(({ name, reason }) => `${name} ${reason}`));
      for (const { name, from, reason } of reading.problems) {
        if (!known.has(`${name} ${reason}`))
          this.#options.logger.error('invalid cluster configuration', { name, from, reason });
      }
      this.#problems.set(
        source,
        reading.problems.map((problem) => ({ ...unknown(problem), phase: 'refused' })),
      );
    } catch (error) {
      if (signal.aborted) return;
      this.#options.logger.warn('cannot read a cluster source; keeping known clusters', {
        source: source.about,
        reason: errorMessage(error),
      });
    }
  }

  #settle(): void {
    const candidates = [...this.#readings.values()].flatMap((reading) => reading.candidates);
    const spoilt = unreadableCandidates([...this.#problems.values()].flat());
    const { wanted, duplicates } = uniqueNames(candidates, (name) => this.#entries.get(name)?.candidate, spoilt);
    for (const { name, from, reason } of duplicates) {
      if (this.#duplicates.some((other) => other.from === from)) continue;
      this.#options.logger.error('invalid cluster configuration', { name, from, reason });
    }
    this.#duplicates = duplicates.map((duplicate) => ({ ...unknown(duplicate), phase: 'refused' }));
    for (const [name, entry] of this.#entries) {
      const candidate = wanted.get(name);
      if (candidate === undefined) {
        if (!spoilt(entry.candidate)) entry.stop.abort('removed' satisfies StopReason);
      } else if (candidate.fingerprint !== entry.candidate.fingerprint) {
        entry.candidate = candidate;
        entry.wake.abort();
      }
    }
    for (const [name, candidate] of wanted) if (!this.#entries.has(name)) this.#start(name, candidate);
  }

  #start(name: string, candidate: ClusterCandidate): void {
    const entry: Entry = {
      ...{ candidate, stop: new AbortController(), wake: new AbortController(), done: Promise.resolve() },
      state: { ...unknown({ name, from: candidate.from, reason: '' }), phase: 'connecting' },
    };
    this.#entries.set(name, entry);
    entry.done = this.#keep(entry).finally(() => this.#entries.delete(name));
  }

  /** Reaches the cluster and serves it, again and again, until it is removed or the set ends. */
  async #keep(entry: Entry): Promise<void> {
    const { clock, random, logger } = this.#options;
    const { signal } = entry.stop;
    for (let attempt = 0; !signal.aborted; attempt++) {
      entry.wake = new AbortController();
      const { candidate } = entry;
      const opened = await this.#open(entry);
      if (opened !== undefined && (await this.#serve(entry, candidate, opened))) {
        attempt = -1;
        continue;
      }
      if (signal.aborted) return;
      const delayMs = Math.round(backoffMs(retry, attempt, random));
      const { name, reason } = entry.state;
      logger.warn('cluster unavailable; retrying', { cluster: name, reason, delayMs });
      await sleep(clock, delayMs, AbortSignal.any([signal, entry.wake.signal]));
    }
  }

  async #open(entry: Entry): Promise<ConnectedCluster | undefined> {
    const { name } = entry.state;
    let cluster: ConnectedCluster;
    try {
      cluster = { ...(await this.#options.open(await entry.candidate.load(), entry.stop.signal)), name };
    } catch (error) {
      entry.state = { ...entry.state, phase: 'unavailable', reason: errorMessage(error), from: entry.candidate.from };
      return undefined;
    }
    const holder = this.#holders.get(cluster.identity);
    if (holder === undefined) {
      // At once: another name for it may be about to be reached as well.
      this.#holders.set(cluster.identity, entry);
      return cluster;
    }
    await cluster.close();
    const reason = `same cluster as ${holder.state.name}: remove one of them`;
    entry.state = { ...entry.state, phase: 'refused', reason, identity: cluster.identity };
    return undefined;
  }

  /** False if that failed. */
  async #serve(entry: Entry, candidate: ClusterCandidate, cluster: ConnectedCluster): Promise<boolean> {
    const { clock, logger, serve } = this.#options;
    const { name, identity, server, version } = cluster;
    const log = logger.with({ cluster: name });
    const life = new AbortController();
    const end = (ending: StopReason) => life.abort(ending);
    entry.stop.signal.addEventListener('abort', () => end(entry.stop.signal.reason as StopReason), { once: true });
    if (entry.stop.signal.aborted) end(entry.stop.signal.reason as StopReason);
    const { middleware } = new IdentityGuard({
      identity,
      cluster: cluster.reader,
      clock,
      onReplaced: (found) => {
        log.warn('another cluster answers at this address; replacing the old one', { identity, found });
        end('removed');
      },
    });
    entry.state = { name, from: candidate.from, phase: 'serving', reason: '', identity, server, version };
    log.info('serving cluster', { identity, server, from: candidate.from });
    const changing = this.#swapWhenChanged(entry, candidate, identity, life);
    let failure = '';
    try {
      const reader = chainReader(cluster.reader, middleware);
      const writer = chainWriter(cluster.writer, middleware);
      await serve({ ...cluster, reader, writer }, life.signal);
    } catch (error) {
      failure = `serving the cluster failed: ${errorMessage(error)}`;
      log.error('serving the cluster failed', { error });
    } finally {
      if (!life.signal.aborted) end('handover');
      entry.state = { ...entry.state, phase: 'draining' };
      await changing;
      await cluster.close();
      if (life.signal.reason === ('removed' satisfies StopReason)) {
        await this.#removed(cluster, log);
      }
      this.#holders.delete(identity);
      entry.state = { ...entry.state, phase: failure === '' ? 'connecting' : 'unavailable', reason: failure };
    }
    return failure === '';
  }

  async #removed(cluster: ConnectedCluster, log: Logger): Promise<void> {
    try {
      await this.#options.onRemoved?.(cluster);
      log.info('cluster removed', { identity: cluster.identity });
    } catch (error) {
      log.error('cannot remove the state of the cluster', { identity: cluster.identity, error });
    }
  }

  /**
   * Ends the life once the candidate has changed and what it is now can be used. Until then the way that is known stays in
   * use, so a mistake in a kubeconfig takes no cluster away.
   */
  async #swapWhenChanged(
    entry: Entry,
    served: ClusterCandidate,
    identity: string,
    life: AbortController,
  ): Promise<void> {
    const { clock, random, logger, open } = this.#options;
    const ended = life.signal;
    for (let attempt = 0; !ended.aborted; ) {
      await sleep(clock, 2 ** 31 - 1, AbortSignal.any([ended, entry.wake.signal]));
      if (ended.aborted) return;
      entry.wake = new AbortController();
      const { candidate } = entry;
      if (candidate.fingerprint === served.fingerprint) continue;
      try {
        const next = await open(await candidate.load(), ended);
        await next.close();
        life.abort(next.identity === identity ? 'handover' : 'removed');
      } catch (error) {
        if (ended.aborted) return;
        const reason = `cannot use the changed kubeconfig; keeping the previous one: ${errorMessage(error)}`;
        entry.state = { ...entry.state, reason };
        logger.error('changed kubeconfig does not work; keeping the previous one', {
          cluster: entry.state.name,
          reason,
        });
        await sleep(clock, backoffMs(retry, attempt++, random), AbortSignal.any([ended, entry.wake.signal]));
        entry.wake.abort();
      }
    }
  }
}

function unknown({ name, from, reason }: { readonly name: string; readonly from: string; readonly reason: string }) {
  return { name, from, reason, identity: '', server: '', version: '' };
}
