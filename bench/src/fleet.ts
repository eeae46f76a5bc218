import { mkdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type Nats, type RedisServer, ServerProcess, startNats, startRedis } from '@sluice/local';

/** `run` is the whole program in one process, without bus and store. */
export type Role = 'run' | 'worker' | 'watcher' | 'reconciler' | 'writer';

const ROOT = dirname(dirname(dirname(fileURLToPath(import.meta.url))));
const READY_MILLISECONDS = 20_000;

/** File that `fleet-program.ts --wait` creates in its directory when NATS and Redis run. */
export const serversReady = 'ready';

export interface FleetOptions {
  /** Folder for data and logs. */
  readonly directory: string;
  /** Kubeconfig for watchers and writers. */
  readonly kubeconfig?: string;
  /** Folder for the CPU profiles of processes that shut down cleanly. */
  readonly profileDirectory?: string;
  /** Additional lines for the configuration of nats-server. */
  readonly natsConfiguration?: string;
}

/** NATS, Redis and role processes of a fleet on this machine, with default settings. */
export class Fleet {
  readonly nats: Nats;
  readonly redis: RedisServer;
  readonly #options: FleetOptions;
  readonly #roles = new Set<ServerProcess>();
  #started = 0;

  private constructor(options: FleetOptions, nats: Nats, redis: RedisServer) {
    this.#options = options;
    this.nats = nats;
    this.redis = redis;
  }

  /** Starts the servers only. */
  static async start(options: FleetOptions): Promise<Fleet> {
    mkdirSync(options.directory, { recursive: true });
    const redis = await startRedis({ directory: join(options.directory, 'redis') });
    const nats = await startNats({
      directory: join(options.directory, 'nats'),
      ...(options.natsConfiguration !== undefined && { configuration: options.natsConfiguration }),
    });
    return new Fleet(options, nats, redis);
  }

  /** Starts a process; it takes its share once it is ready. */
  async run(role: Role): Promise<ServerProcess> {
    const { directory, kubeconfig, profileDirectory } = this.#options;
    this.#started += 1;
    const name = `${role}-${this.#started}`;
    const profiled = ['--cpu-prof', `--cpu-prof-dir=${profileDirectory}`, join(ROOT, 'services/sluice/src/main.ts')];
    const cluster = role === 'reconciler' || kubeconfig === undefined ? [] : ['--kubeconfig', kubeconfig];
    const backends = role === 'run' ? ['--output', 'none'] : ['--bus', this.nats.url, '--store', this.redis.url];
    const flags = ['--log-level', 'warn', '--metrics-bind-address', '0'];
    const child = new ServerProcess({
      name,
      program: profileDirectory === undefined ? join(ROOT, 'bin/sluice') : process.execPath,
      args: [...(profileDirectory === undefined ? [] : profiled), ...[role, ...backends, ...cluster, ...flags]],
      log: join(directory, `${name}.log`),
    });
    await child.start();
    this.#roles.add(child);
    return child;
  }

  /** Stops in the order of the data flow, so that pending work drains. */
  async stop(): Promise<void> {
    for (const role of ['run', 'worker', 'watcher', 'reconciler', 'writer']) {
      const these = [...this.#roles].filter(({ name }) => name.startsWith(role));
      await Promise.all(these.map((child) => child.stop(READY_MILLISECONDS)));
    }
    await this.nats.stop();
    await this.redis.stop();
  }
}
