import type { Clock } from '@sluice/runtime';
import { byIdentity, type ClusterDirectory, type KnownCluster } from '@sluice/store';
import { bounded } from './bounded.ts';
import { tagged } from './keys.ts';
import type { Client } from './script.ts';

export interface RedisClusterDirectoryOptions {
  readonly client: Client;
  readonly clock: Clock;
  readonly fleet: string;
  readonly patienceMs: number;
}

/** The clusters of a fleet, as JSON in one hash. */
export class RedisClusterDirectory implements ClusterDirectory {
  readonly #options: RedisClusterDirectoryOptions;
  readonly #key: string;

  constructor(options: RedisClusterDirectoryOptions) {
    this.#options = options;
    this.#key = tagged(options.fleet, 'clusters');
  }

  async put(cluster: KnownCluster): Promise<void> {
    const { client } = this.#options;
    await this.#bounded('telling of a cluster', client.hset(this.#key, cluster.identity, JSON.stringify(cluster)));
  }

  async remove(identity: string): Promise<void> {
    await this.#bounded('forgetting a cluster', this.#options.client.hdel(this.#key, identity));
  }

  async list(): Promise<readonly KnownCluster[]> {
    const told = await this.#bounded('list of clusters', this.#options.client.hgetall(this.#key));
    return byIdentity(Object.values(told).map((text) => JSON.parse(text) as KnownCluster));
  }

  #bounded<T>(what: string, answer: Promise<T>): Promise<T> {
    return bounded(this.#options.clock, this.#options.patienceMs, what, answer);
  }
}
