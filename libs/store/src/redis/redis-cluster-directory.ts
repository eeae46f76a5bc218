import { byIdentity, type ClusterDirectory, type KnownCluster, withPauses } from '../index.ts';
import { withTimeout } from './redis-error.ts';
import { type Commands, hashTagged, Script } from './script.ts';

/** Version of the values. */
const formatVersion = 1;
/** Prefix of the fields that say why writes to a cluster are paused. */
const pausePrefix = 'paused/';

const pauseScript = new Script(['pause']);

/** Cluster directory in Redis: one hash with a JSON value per cluster, and a text per cluster whose writes are paused. */
export class RedisClusterDirectory implements ClusterDirectory {
  readonly #options: Commands;
  readonly #key: string;

  constructor(options: Commands) {
    this.#options = options;
    this.#key = hashTagged(options.fleet, 'clusters');
  }

  async put({ paused: _, ...cluster }: KnownCluster): Promise<void> {
    const { client } = this.#options;
    await withTimeout(
      this.#options,
      'adding a cluster',
      client.hset(this.#key, cluster.identity, JSON.stringify({ formatVersion, ...cluster })),
    );
  }

  async setPaused(identity: string, reason: string | undefined): Promise<boolean> {
    const { client } = this.#options;
    const field = `${pausePrefix}${identity}`;
    const change =
      reason === undefined
        ? client.hdel(this.#key, field).then(() => 1)
        : pauseScript.run(client, [this.#key], [identity, field, reason]);
    return (await withTimeout(this.#options, 'changing whether writes are paused', change)) === 1;
  }

  async remove(identity: string): Promise<void> {
    const fields = [identity, `${pausePrefix}${identity}`];
    await withTimeout(this.#options, 'removing a cluster', this.#options.client.hdel(this.#key, ...fields));
  }

  async list(): Promise<readonly KnownCluster[]> {
    const fields = await withTimeout(this.#options, 'listing clusters', this.#options.client.hgetall(this.#key));
    const clusters: KnownCluster[] = [];
    const pauses = new Map<string, string>();
    for (const [field, text] of Object.entries(fields)) {
      if (field.startsWith(pausePrefix)) pauses.set(field.slice(pausePrefix.length), text);
      else clusters.push(decodeCluster(field, text));
    }
    return withPauses(byIdentity(clusters), pauses);
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
