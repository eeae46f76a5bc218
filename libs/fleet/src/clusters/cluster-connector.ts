import { isApiError, isOutage, outageReason } from '@sluice/kubernetes';
import { errorMessage, orAborted, Semaphore } from '@sluice/platform';
import type { ClusterEvidence } from '../identity/pinned-clusters.ts';
import type { ClusterEntry, ClusterState, ConnectedCluster } from './cluster.ts';
import type { ClusterSetOptions } from './cluster-set-options.ts';

/** Each connection takes some ten requests, so a thousand at once would time out. */
const permits = { permits: 64, maxIdleMs: 2_000 };

type Options = Pick<ClusterSetOptions, 'open' | 'guard' | 'identities' | 'clock' | 'logger'>;

/** Connects to clusters, and refuses those whose identity is in conflict or that another name has. */
export class ClusterConnector {
  readonly #options: Options;
  readonly #permits: Semaphore;
  readonly #stopping: AbortSignal;
  /** Entries being served or stopped, by cluster identity. */
  readonly #holders = new Map<string, ClusterEntry>();

  /** `stopping` aborts when this process stops: a store that does not answer must not delay that. */
  constructor(options: Options, stopping: AbortSignal) {
    this.#options = options;
    this.#permits = new Semaphore({ ...permits, clock: options.clock });
    this.#stopping = stopping;
  }

  /** Returns undefined, and sets the state of the entry to the reason, if the cluster cannot be served. */
  async connect(entry: ClusterEntry): Promise<ConnectedCluster | undefined> {
    const { name } = entry.state;
    const permit = await this.#permits.acquire(entry.stop.signal);
    let cluster: ConnectedCluster;
    try {
      cluster = { ...(await this.#options.open(await entry.candidate.load(), entry.stop.signal, name)), name };
    } catch (error) {
      return this.#unavailable(entry, error);
    } finally {
      permit.release();
    }
    const refusal = await orAborted(this.#admit(entry, cluster), this.#stopping);
    if (refusal === 'aborted') {
      await cluster.close();
      return undefined;
    }
    if (refusal !== undefined) {
      await cluster.close();
      entry.state = { ...entry.state, ...refusal, from: entry.candidate.from };
      return undefined;
    }
    const holder = this.#holders.get(cluster.identity);
    if (holder === undefined) {
      // Set synchronously: another name for this cluster may be connecting.
      this.#holders.set(cluster.identity, entry);
      return this.#guard(entry, cluster);
    }
    await cluster.close();
    const reason = `same cluster as ${holder.state.name}: remove one of them`;
    entry.state = { ...entry.state, phase: 'rejected', reason, identity: cluster.identity };
    return undefined;
  }

  /** Lets another name connect to the cluster. */
  release(identity: string): void {
    this.#holders.delete(identity);
  }

  async #guard(entry: ClusterEntry, cluster: ConnectedCluster): Promise<ConnectedCluster | undefined> {
    const { guard } = this.#options;
    if (guard === undefined) return cluster;
    try {
      return await guard(cluster, entry.stop.signal);
    } catch (error) {
      await cluster.close();
      this.release(cluster.identity);
      return this.#unavailable(entry, error);
    }
  }

  #unavailable(entry: ClusterEntry, error: unknown): undefined {
    const since = entry.state.since ?? this.#options.clock.now();
    const { from } = entry.candidate;
    const reason = errorMessage(error);
    entry.state = { ...entry.state, phase: 'unavailable', reason, from, since, silence: silenceOf(error) };
  }

  /** Asks the pinned identities. Returns the resulting state if the cluster must not be served. */
  async #admit(
    { state }: ClusterEntry,
    cluster: ConnectedCluster,
  ): Promise<Pick<ClusterState, 'phase' | 'reason' | 'identity' | 'server'> | undefined> {
    const { identities, logger } = this.#options;
    const { name, identity, server } = cluster;
    try {
      const reason = await identities?.admit(name, evidenceOf(cluster));
      if (reason === undefined) return undefined;
      if (state.phase !== 'conflict') {
        logger.error('cluster identity conflict; not serving cluster', { cluster: name, identity, server, reason });
      }
      return { phase: 'conflict', reason, identity, server };
    } catch (error) {
      const reason = `cannot compare its identity with the pinned one: ${errorMessage(error)}`;
      return { phase: 'unavailable', reason, identity, server };
    }
  }
}

/** What the pinned identities are compared with. */
export function evidenceOf({ identity, server, authorities = [] }: ConnectedCluster): ClusterEvidence {
  return { identity, server, authorities };
}

/** Undefined unless the error or one that caused it says that the API server does not answer. */
function silenceOf(error: unknown): string | undefined {
  if (isApiError(error)) return isOutage(error) ? outageReason(error) : undefined;
  return error instanceof Error && error.cause !== undefined ? silenceOf(error.cause) : undefined;
}
