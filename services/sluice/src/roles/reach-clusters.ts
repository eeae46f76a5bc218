import { ClusterUnavailableError, type ClusterWork } from '@sluice/kubernetes';
import { backoffMs, type Clock, type Logger, type Random, sleep } from '@sluice/runtime';
import type { ClusterConfiguration } from '../configuration/configuration.ts';
import { type ConnectedCluster, connect } from '../connect.ts';

/** The clusters of a process, as far as they have been reached. */
export class Clusters {
  readonly #reached: ConnectedCluster[] = [];
  readonly #count: number;

  constructor(count: number) {
    this.#count = count;
  }

  add(cluster: ConnectedCluster): void {
    this.#reached.push(cluster);
  }

  get complete(): boolean {
    return this.#reached.length === this.#count;
  }

  async close(): Promise<void> {
    await Promise.all(this.#reached.map((cluster) => cluster.close()));
  }
}

/**
 * Connects to a cluster, trying again while it cannot be reached; undefined if told to stop before. A kubeconfig that
 * cannot be used is a UsageError at once.
 */
export async function reach(
  { name, ...choice }: ClusterConfiguration,
  work: ClusterWork,
  ports: { readonly clock: Clock; readonly random: Random; readonly logger: Logger },
  environment: NodeJS.ProcessEnv,
  signal: AbortSignal,
): Promise<ConnectedCluster | undefined> {
  for (let attempt = 0; !signal.aborted; attempt++) {
    try {
      return { ...(await connect({ ...choice, ...ports, work: [work] }, environment)), name };
    } catch (error) {
      if (!(error instanceof Error && error.cause instanceof ClusterUnavailableError)) throw error;
      const delayMs = Math.round(backoffMs({ baseMs: 500, maxMs: 30_000 }, attempt, ports.random));
      ports.logger.warn('cluster cannot be reached; trying again', {
        cluster: name,
        reason: error.message,
        delayMs,
      });
      await sleep(ports.clock, delayMs, signal);
    }
  }
  return undefined;
}
