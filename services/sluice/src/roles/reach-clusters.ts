import { ClusterUnavailableError, type ClusterWork } from '@sluice/kubernetes';
import { backoffMs, type Clock, type Logger, type Random, sleep } from '@sluice/runtime';
import type { ClusterConfiguration } from '../configuration/configuration.ts';
import { type ConnectedCluster, connect } from '../connect.ts';
import { type Check, condition } from '../telemetry/health.ts';

/** The clusters of a process, as far as they have been reached. */
export class Clusters {
  readonly #reached: ConnectedCluster[] = [];
  readonly #names: readonly string[];

  constructor(all: readonly Pick<ClusterConfiguration, 'name'>[]) {
    this.#names = all.map(({ name }) => name);
  }

  add(cluster: ConnectedCluster): void {
    this.#reached.push(cluster);
  }

  get complete(): boolean {
    return this.#reached.length === this.#names.length;
  }

  /** Whether each has been reached. */
  get checks(): readonly Check[] {
    const isReached = (name: string) => this.#reached.some((cluster) => cluster.name === name);
    return this.#names.map((name) => condition(`cluster/${name}`, () => isReached(name), 'not reached yet'));
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
  ports: { readonly clock: Clock; readonly random: Random; readonly logger: Logger; readonly takeOver?: boolean },
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
