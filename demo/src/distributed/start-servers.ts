import { randomBytes } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Configuration } from '@sluice/fleet/configuration';
import { loadConfiguration } from '@sluice/fleet/configuration/load';
import {
  ensureKafkaJars,
  ensureNatsServer,
  type RunningServer,
  startKafka,
  startNats,
  startRedis,
} from '@sluice/local';
import type { Clock, Logger, Random } from '@sluice/platform';
import { graceMs, type ShutdownStep } from '@sluice/platform/process';
import type { DistributedBus } from './distributed-bus.ts';
import { keepRunning } from './keep-running.ts';

export interface ServersOptions {
  readonly bus: DistributedBus;
  readonly directory: string;
  readonly partitions: number;
  /** Clusters for commands that check them. */
  readonly clusters?: readonly { readonly name: string; readonly kubeconfig: string }[];
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
}

export interface Servers {
  /** Bus and store of the fleet on these servers. */
  readonly configuration: Configuration;
  /** Flags with which a role uses them. */
  readonly flags: readonly string[];
  /** Configuration file with which a command reads them while they run. */
  readonly file: string;
  /** For the user, for example `NATS at nats://127.0.0.1:4222, Redis at redis://127.0.0.1:6379`. */
  readonly about: string;
}

interface BusServer {
  readonly name: string;
  readonly url: string;
  /** Settings of `bus` in a configuration file, besides `servers`. */
  readonly settings: Readonly<Record<string, unknown>>;
  readonly stop: () => Promise<void>;
  readonly ended: () => Promise<void>;
  readonly restart: () => Promise<void>;
}

/** A broker hands over its partitions before it stops. */
const busGraceMs = { nats: graceMs, kafka: 20_000 } as const;

/**
 * Starts Redis and the bus on loopback, keeps them running, and adds to `endings` how to stop them. Other users of the machine cannot use them:
 * they require passwords.
 *
 * @throws LocalError, for example if redis-server or Java is missing. `endings` stops what has started.
 */
export async function startServers(options: ServersOptions, endings: ShutdownStep[]): Promise<Servers> {
  const { directory, partitions, clusters = [] } = options;
  const user = { username: 'sluice', password: newPassword() };
  const users = { [user.username]: `on >${user.password} ~* &* +@all` };
  const redis = await startRedis({ directory: join(directory, 'redis'), users });
  const stopping = new AbortController();
  const stop = (server: Pick<BusServer, 'stop'>) => () => {
    stopping.abort();
    return server.stop();
  };
  endings.push({ component: 'Redis', graceMs, stop: stop(redis) });
  const keptRedis = { name: 'Redis', ended: () => redis.process.ended, restart: () => redis.restart() };
  void keepRunning(keptRedis, options, stopping.signal);
  const bus = await startBus(options);
  endings.push({ component: bus.name, graceMs: busGraceMs[options.bus], stop: stop(bus) });
  void keepRunning(bus, options, stopping.signal);
  const file = join(directory, 'sluice.json');
  const settings = {
    ...{ partitions, clusters },
    bus: { servers: [bus.url], ...bus.settings },
    store: { url: [redis.url], ...user },
  };
  // JSON is valid YAML. Only this user may read the passwords.
  writeFileSync(file, JSON.stringify(settings), { mode: 0o600 });
  return {
    configuration: loadConfiguration({ file, environment: {}, flags: {} }),
    // Addresses as flags too: flags take precedence over the user's environment.
    flags: ['--config', file, '--bus', bus.url, '--store', redis.url, '--partitions', String(partitions)],
    file,
    about: `${bus.name} at ${bus.url}, Redis at ${redis.url}`,
  };
}

async function startBus({ bus, directory, logger }: ServersOptions): Promise<BusServer> {
  const report = (line: string) => logger.info(line);
  if (bus === 'nats') {
    await ensureNatsServer(report);
    const token = newPassword();
    const nats = await startNats({ directory: join(directory, bus), token });
    return { name: 'NATS', url: nats.url, settings: { token }, ...kept(nats) };
  }
  await ensureKafkaJars(report);
  const user = { username: 'sluice', password: newPassword() };
  const users = { [user.username]: user.password };
  const kafka = await startKafka({ directory: join(directory, bus), users, optimized: true });
  // One broker has one replica.
  const settings = { replicas: 1, minInsyncReplicas: 1, mechanism: 'scram-sha-512', ...user };
  return { name: 'Kafka', url: `kafka://${kafka.broker}`, settings, ...kept(kafka) };
}

const kept = (server: RunningServer): Pick<BusServer, 'stop' | 'ended' | 'restart'> => ({
  stop: () => server.stop(),
  ended: () => server.process.ended,
  async restart() {
    await server.process.start();
    await server.ready();
  },
});

function newPassword(): string {
  return randomBytes(24).toString('hex');
}
