import type { Clock } from '@sluice/runtime';
import { byIdentity, type ClusterDirectory, type KnownCluster } from '@sluice/store';
import { hashTagged } from './keys.ts';
import type { Client } from './script.ts';
import { withTimeout } from './with-timeout.ts';

/** Version of the values. */
const formatVersion = 1;

export interface RedisClusterDirectoryOptions {
  readonly client: Client;
  readonly clock: Clock;
  readonly fleet: string;
  readonly commandTimeoutMs: number;
}

/** Cluster directory in Redis: one hash with a JSON value per cluster. */
export class RedisClusterDirectory implements ClusterDirectory {
  readonly #options: RedisClusterDirectoryOptions;
  readonly #key: string;

  constructor(options: RedisClusterDirectoryOptions) {
    this.#options = options;
    this.#key = hashTagged(options.fleet, 'clusters');
  }

  async put(cluster: KnownCluster): Promise<void> {
    const { client } = this.#options;
    await this.#withTimeout(
      'adding a cluster',
      client.hset(this.#key, cluster.identity, JSON.stringify({ formatVersion, ...cluster })),
    );
  }

  async remove(identity: string): Promise<void> {
    await this.#withTimeout('removing a cluster', this.#options.client.hdel(this.#key, identity));
  }

  async list(): Promise<readonly KnownCluster[]> {
    const clusters = await this.#withTimeout('listing clusters', this.#options.client.hgetall(this.#key));
    return byIdentity(Object.entries(clusters).map(([identity, text]) => decodeCluster(identity, text)));
  }

  #withTimeout<T>(what: string, answer: Promise<T>): Promise<T> {
    return withTimeout(this.#options.clock, this.#options.commandTimeoutMs, what, answer);
  }
}

/** An unreadable entry keeps its identity; the cluster's watcher replaces the entry when it starts. */
function decodeCluster(identity: string, text: string): KnownCluster {
  const unknown: KnownCluster = { identity, name: identity, version: '', server: '' };
  try {
    const value = JSON.parse(text) as Partial<KnownCluster> & { readonly formatVersion?: number };
    const { formatVersion: version, ...cluster } = { ...unknown, ...value, identity };
    return version === formatVersion ? cluster : unknown;
  } catch {
    return unknown;
  }
}
