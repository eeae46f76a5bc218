import { randomBytes } from 'node:crypto';
import { mkdirSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { onFreePorts } from './free-ports.ts';
import { ensureKafkaJars, run } from './kafka-jars.ts';
import { type BrokerPlace, brokerProperties, dataDirectory, type KafkaSecurity } from './kafka-properties.ts';
import { LocalError } from './local-error.ts';
import { makeServingCertificate, type ServingCertificate } from './openssl.ts';
import { type RunningServer, startServer } from './running-server.ts';

/** The Kafka broker to start. */
export interface KafkaOptions extends KafkaSecurity {
  /** Its data, configuration and log; made if missing. Data that is there is taken up again. */
  readonly directory: string;
  /** Of clients. Default: a free one. */
  readonly port?: number;
  /** Lines of server.properties, added to ours; a repeated one wins over ours. */
  readonly properties?: Readonly<Record<string, string>>;
  /** Default 180 000. */
  readonly readyTimeoutMilliseconds?: number;
}

/** A running broker that is its own controller (KRaft), on loopback. */
export interface Kafka extends RunningServer {
  /** `host:port`, for clients. */
  readonly broker: string;
  readonly directory: string;
  /** The folder in it that holds all that the broker keeps. */
  readonly data: string;
  /** With TLS: what clients trust it by. */
  readonly certificate: ServingCertificate | undefined;
}

/** For clients, among brokers, for the controller. */
const PORTS = 3;

/**
 * Starts a broker, fetches it first if need be, and returns when it answers (3–6 s).
 *
 * @throws LocalError see its codes; nothing is left running then
 */
export async function startKafka(options: KafkaOptions): Promise<Kafka> {
  const [kafka] = await startBrokers(1, () => options);
  if (kafka === undefined) throw new LocalError('exited', 'Kafka has gone');
  return kafka;
}

/** Starts so many brokers as one cluster, each in a folder of its own. @throws LocalError see its codes */
export function startKafkaCluster(brokers: number, options: Omit<KafkaOptions, 'port'>): Promise<readonly Kafka[]> {
  return startBrokers(brokers, (id) => ({ ...options, directory: join(options.directory, `broker-${id}`) }));
}

async function startBrokers(count: number, optionsOf: (id: number) => KafkaOptions): Promise<readonly Kafka[]> {
  const jars = join(await ensureKafkaJars(), '*');
  return onFreePorts(PORTS * count, async (ports) => {
    const cluster = clusterId();
    const ids = Array.from({ length: count }, (_, index) => index + 1);
    const portOf = (id: number, which: 0 | 1 | 2) => ports[(id - 1) * PORTS + which] ?? 0;
    const voters = ids.map((id) => `${id}@127.0.0.1:${portOf(id, 2)}`).join();
    const starts = ids.map((id) => {
      const options = optionsOf(id);
      const { directory, port = portOf(id, 0) } = options;
      const [internalPort, controllerPort] = [portOf(id, 1), portOf(id, 2)];
      const place = { id, directory, port, internalPort, controllerPort, voters, brokers: count };
      return startBroker(place, cluster, jars, options);
    });
    const started = await Promise.allSettled(starts);
    const running = started.flatMap((result) => (result.status === 'fulfilled' ? [result.value] : []));
    const failed = started.find((result) => result.status === 'rejected');
    if (failed === undefined) return running;
    await Promise.all(running.map(({ process }) => process.kill()));
    throw failed.reason;
  });
}

async function startBroker(place: BrokerPlace, cluster: string, jars: string, options: KafkaOptions): Promise<Kafka> {
  const { directory, port } = place;
  const { readyTimeoutMilliseconds = 180_000, users = {} } = options;
  mkdirSync(directory, { recursive: true, mode: 0o700 });
  const secure = options.tls !== undefined && options.tls !== false;
  const certificate = secure ? await makeServingCertificate(directory, 'kafka') : undefined;
  const configuration = join(directory, 'server.properties');
  const lines = Object.entries({ ...brokerProperties(place, options, certificate), ...options.properties });
  writeFileSync(configuration, lines.map(([name, value]) => `${name}=${value}\n`).join(''));

  // Quick to start rather than quick for long; nothing of the broker's is worth a bigger heap here.
  const java = ['-Xmx512m', '-XX:+UseSerialGC', '-XX:-UsePerfData', '-cp', jars];
  const format = ['format', '--ignore-formatted', '-t', cluster, '-c', configuration];
  const scram = Object.entries(users).flatMap(([name, password]) => [
    '--add-scram',
    `SCRAM-SHA-512=[name=${name},password=${password}]`,
  ]);
  const formatted = await run(
    'java',
    [...java, 'kafka.tools.StorageTool', ...format, ...scram],
    () => new LocalError('java-missing', 'java has gone'),
  );
  if (formatted.status !== 0) throw new LocalError('exited', `Kafka could not format its data:\n${formatted.output}`);

  const args = [...java, 'kafka.Kafka', configuration];
  const server = await startServer(
    { name: 'kafka', program: 'java', args, log: join(directory, 'kafka.log') },
    {
      // Its plain port among brokers: the one for clients may ask for TLS and a user.
      answers: () => answers(place.internalPort),
      patienceMilliseconds: readyTimeoutMilliseconds,
      // It hands over its partitions in peace before it ends.
      graceMilliseconds: 15_000,
    },
  );
  return { ...server, broker: `127.0.0.1:${port}`, directory, data: dataDirectory(directory), certificate };
}

/** Kafka writes its UUIDs in base64. One that begins with a dash would be taken for an option. */
function clusterId(): string {
  return `A${randomBytes(16).toString('base64url').slice(1, 21)}A`;
}

/** The port opens before the broker is ready to serve; a reply to ApiVersions says that it is. */
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
