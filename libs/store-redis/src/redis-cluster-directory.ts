import { byIdentity, type ClusterDirectory, type KnownCluster } from '@sluice/store';
import type { RedisConnection } from './redis-connection.ts';

/** Cluster directory in Redis: one hash with a JSON value per cluster. */
export class RedisClusterDirectory implements ClusterDirectory {
  readonly #connection: RedisConnection;
  readonly #key: string;

  constructor(connection: RedisConnection) {
    this.#connection = connection;
    this.#key = connection.key('clusters');
  }

  async put(cluster: KnownCluster): Promise<void> {
    const { client } = this.#connection;
    await this.#connection.withTimeout(
      'adding a cluster',
      client.hset(this.#key, cluster.identity, JSON.stringify(cluster)),
    );
  }

  async remove(identity: string): Promise<void> {
    await this.#connection.withTimeout('removing a cluster', this.#connection.client.hdel(this.#key, identity));
  }

  async list(): Promise<readonly KnownCluster[]> {
    const clusters = await this.#connection.withTimeout('listing clusters', this.#connection.client.hgetall(this.#key));
    return byIdentity(Object.values(clusters).map((text) => JSON.parse(text) as KnownCluster));
  }
}
