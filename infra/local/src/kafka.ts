import { randomBytes } from 'node:crypto';
import { mkdirSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { onFreePorts } from './free-ports.ts';
import { ensureKafkaJars, run } from './kafka-jars.ts';
import {
  brokerProperties,
  dataDirectory,
  type KafkaListener,
  type KafkaNode,
  type KafkaSecurity,
} from './kafka-properties.ts';
import { LocalError } from './local-error.ts';
import { makeServingCertificate, type ServingCertificate } from './openssl.ts';
import { type RunningServer, startServer } from './running-server.ts';

export interface KafkaOptions extends KafkaSecurity {
  /** For its data, configuration and log; created if missing. */
  readonly directory: string;
  /** Port for clients. Default: a free port. */
  readonly port?: number;
  /** Default: none. */
  readonly additionalListeners?: readonly KafkaListener[];
  /** Additional lines of server.properties. A repeated one overrides the default. */
  readonly properties?: Readonly<Record<string, string>>;
  /** Whether the JVM optimises hot code, which doubles the CPU time of a start. Default: false. */
  readonly optimized?: boolean;
  /** Default 180 000. */
  readonly readyTimeoutMilliseconds?: number;
}

/** A running broker on loopback that is also a controller (KRaft). */
export interface Kafka extends RunningServer {
  /** `host:port`, for clients. */
  readonly broker: string;
  readonly directory: string;
  /** The folder with all data of the broker. */
  readonly data: string;
  /** Set with TLS. */
  readonly certificate: ServingCertificate | undefined;
}

/** Ports per broker: clients, internal, controller. */
const PORTS = 3;

/**
 * Starts a broker, downloading Kafka first if necessary, and waits until it answers (3–6 s).
 *
 * @throws LocalError and leaves nothing running
 */
export async function startKafka(options: KafkaOptions): Promise<Kafka> {
  const [kafka] = await startBrokers(1, () => options);
  if (kafka === undefined) throw new LocalError('exited', 'Kafka did not start');
  return kafka;
}

/** Starts the brokers of one cluster, each with its own folder. @throws LocalError and leaves nothing running */
export function startKafkaCluster(brokers: number, options: Omit<KafkaOptions, 'port'>): Promise<readonly Kafka[]> {
  return startBrokers(brokers, (id) => ({ ...options, directory: join(options.directory, `broker-${id}`) }));
}

async function startBrokers(count: number, optionsOf: (id: number) => KafkaOptions): Promise<readonly Kafka[]> {
  const jars = join(await ensureKafkaJars(), '*');
  // The same for an attempt on other ports, whose data directories are formatted already.
  const shared = { cluster: clusterId(), brokerPassword: randomBytes(24).toString('hex') };
  return onFreePorts(PORTS * count, async (ports) => {
    const ids = Array.from({ length: count }, (_, index) => index + 1);
    const portOf = (id: number, which: 0 | 1 | 2) => ports[(id - 1) * PORTS + which] ?? 0;
    const voters = ids.map((id) => `${id}@127.0.0.1:${portOf(id, 2)}`).join();
    const starts = ids.map((id) => {
      const options = optionsOf(id);
      const { directory, port = portOf(id, 0), additionalListeners = [] } = options;
      const [internalPort, controllerPort] = [portOf(id, 1), portOf(id, 2)];
      const own = { port, internalPort, controllerPort };
      const node = { id, directory, ...own, voters, brokers: count, additionalListeners };
      return startBroker(node, shared, jars, options);
    });
    const started = await Promise.allSettled(starts);
    const running = started.flatMap((result) => (result.status === 'fulfilled' ? [result.value] : []));
    const failed = started.find((result) => result.status === 'rejected');
    if (failed === undefined) return running;
    await Promise.all(running.map(({ process }) => process.kill()));
    throw failed.reason;
  });
}

async function startBroker(
  node: KafkaNode,
  { cluster, brokerPassword }: { readonly cluster: string; readonly brokerPassword: string },
  jars: string,
  options: KafkaOptions,
): Promise<Kafka> {
  const { directory, port } = node;
  const { readyTimeoutMilliseconds, optimized = false, users = {} } = options;
  mkdirSync(directory, { recursive: true, mode: 0o700 });
  const secure = options.tls !== undefined && options.tls !== false;
  const certificate = secure ? await makeServingCertificate(directory, 'kafka') : undefined;
  const configuration = join(directory, 'server.properties');
  const lines = Object.entries({
    ...brokerProperties(node, { ...options, brokerPassword }, certificate),
    ...options.properties,
  });
  writeFileSync(configuration, lines.map(([name, value]) => `${name}=${value}\n`).join(''), { mode: 0o600 });

  // A small heap is enough here, and the tool that formats is never worth optimising.
  const java = ['-Xmx512m', '-XX:+UseSerialGC', '-XX:-UsePerfData', '-cp', jars];
  const quick = '-XX:TieredStopAtLevel=1';
  const format = ['format', '--ignore-formatted', '-t', cluster, '-c', configuration];
  const scram = Object.entries(users).flatMap(([name, password]) => [
    '--add-scram',
    `SCRAM-SHA-512=[name=${name},password=${password}]`,
  ]);
  const formatted = await run(
    'java',
    [quick, ...java, 'kafka.tools.StorageTool', ...format, ...scram],
    () => new LocalError('java-missing', 'cannot run java'),
  );
  if (formatted.status !== 0)
    throw new LocalError('exited', `Kafka cannot format its data directory:\n${formatted.output}`);

  const args = [...(optimized ? [] : [quick]), ...java, 'kafka.Kafka', configuration];
  const server = await startServer(
    { name: 'kafka', program: 'java', args, log: join(directory, 'kafka.log') },
    {
      // The internal listener, because the one for clients may require TLS and authentication.
      isReady: () => answers(node.internalPort),
      timeoutMilliseconds: readyTimeoutMilliseconds,
      // A controlled shutdown hands over the broker's partitions.
      graceMilliseconds: 15_000,
    },
  );
  return { ...server, broker: `127.0.0.1:${port}`, directory, data: dataDirectory(directory), certificate };
}

/** A UUID in base64, as Kafka writes it. It must not start with a dash, which looks like an option. */
function clusterId(): string {
  return `A${randomBytes(16).toString('base64url').slice(1, 21)}A`;
}

/** The port opens before the broker is ready. A ready broker answers an ApiVersions request. */
function answers(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect({ host: '127.0.0.1', port });
    const end = (answer: boolean) => {
      socket.destroy();
      resolve(answer);
    };
    // Size, ApiVersions, version 0, correlation id, no client id.
    socket.once('connect', () => socket.write(Buffer.from([0, 0, 0, 10, 0, 18, 0, 0, 0, 0, 0, 1, 255, 255])));
    socket.once('data', () => end(true));
    socket.once('error', () => end(false));
    socket.setTimeout(1000, () => end(false));
  });
}
