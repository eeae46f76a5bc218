import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import {
  type Kafka,
  type Nats,
  type RedisServer,
  ServerProcess,
  startKafka,
  startNats,
  startRedis,
} from '@sluice/local';
import { type Replicas, type Role, roles } from '../schedule.ts';
import { Target } from './target.ts';

export interface FleetOptions {
  readonly directory: string;
  readonly bus: 'nats' | 'kafka';
  readonly kubeconfig: string;
  readonly partitions: number;
  readonly replicas: Replicas;
}

export type BusServer =
  | { readonly kind: 'nats'; readonly server: Nats }
  | { readonly kind: 'kafka'; readonly server: Kafka };

/** The processes of a fleet and its servers. */
export interface Fleet {
  readonly fleet: string;
  readonly partitions: number;
  readonly bus: BusServer;
  readonly redis: RedisServer;
  readonly roles: readonly Target[];
  readonly targets: ReadonlyMap<string, Target>;
  stop(): Promise<void>;
}

/** Short, so that an outage can exceed it. The lease duration keeps its default. */
export const duplicateWindowMs = 2_000;

/** Kafka starts in seconds, but takes a minute on a machine busy with a whole fleet. */
const kafkaReadyMs = 180_000;

const program = fileURLToPath(new URL('../../../services/sluice/src/main.ts', import.meta.url));
const name = 'chaos';

/**
 * Starts bus and store, but no role.
 *
 * @throws LocalError
 */
export async function startServers(options: FleetOptions): Promise<Fleet> {
  const { directory, partitions } = options;
  const redis = await startRedis({ directory: join(directory, 'redis') });
  const bus = await startBus(options).catch(async (error: unknown) => {
    await redis.stop();
    throw error;
  });
  const configuration = join(directory, 'sluice.yaml');
  writeFileSync(configuration, JSON.stringify(configure(options, bus, redis.url)), { mode: 0o600 });
  mkdirSync(join(directory, 'logs'), { recursive: true });
  const ofRoles = roles.flatMap((role) =>
    Array.from({ length: options.replicas[role] }, (_, n) =>
      roleTarget(`${role}-${n + 1}`, role, configuration, directory),
    ),
  );
  const servers = [
    new Target('bus', bus.server.process, async () => {
      await bus.server.process.start();
      await bus.server.ready();
    }),
    // Kills first, which has no effect on a process that has exited.
    new Target('store', redis.process, () => redis.restart()),
  ];
  return {
    fleet: name,
    partitions,
    bus,
    redis,
    roles: ofRoles,
    targets: new Map([...ofRoles, ...servers].map((target) => [target.name, target])),
    async stop() {
      await Promise.all(ofRoles.map(({ process }) => process.kill()));
      await Promise.all(servers.map(({ process }) => process.kill()));
    },
  };
}

async function startBus({ bus, directory }: FleetOptions): Promise<BusServer> {
  if (bus === 'nats') return { kind: bus, server: await startNats({ directory: join(directory, 'nats') }) };
  const kafka = await startKafka({ directory: join(directory, 'kafka'), readyTimeoutMilliseconds: kafkaReadyMs });
  return { kind: bus, server: kafka };
}

/** The configuration as JSON, which is valid YAML. */
function configure({ partitions, kubeconfig }: FleetOptions, bus: BusServer, redisUrl: string): object {
  return {
    fleet: name,
    partitions,
    bus:
      bus.kind === 'nats'
        ? { servers: [bus.server.url], duplicateWindow: `${duplicateWindowMs}ms` }
        : { servers: [`kafka://${bus.server.broker}`], replicas: 1, minInsyncReplicas: 1 },
    store: { url: [redisUrl] },
    clusters: [{ name, kubeconfig }],
    log: { format: 'json', level: 'info' },
    metricsBindAddress: '0',
  };
}

function roleTarget(name: string, role: Role, configuration: string, directory: string): Target {
  const process_ = new ServerProcess({
    name,
    program: process.execPath,
    args: [program, role, '--config', configuration],
    log: join(directory, 'logs', `${name}.log`),
  });
  return new Target(name, process_, () => process_.start());
}
