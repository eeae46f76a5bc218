import { randomBytes } from 'node:crypto';
import { mkdirSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { freePorts } from './free-ports.ts';
import { ensureKafkaJars, run } from './kafka-jars.ts';
import { LocalError } from './local-error.ts';
import { ServerProcess } from './server-process.ts';

/** The Kafka broker to start. */
export interface KafkaOptions {
  /** Its data, configuration and log; made if missing. Data that is there is taken up again. */
  readonly directory: string;
  /** Of clients. Default: a free one. */
  readonly port?: number;
  /** Lines of server.properties, added to ours; a repeated one wins over ours. */
  readonly properties?: Readonly<Record<string, string>>;
  /** Default 60 000. */
  readonly readyTimeoutMilliseconds?: number;
}

/** A running broker that is its own controller (KRaft), on loopback and without TLS. It ends with this process. */
export interface Kafka {
  /** `host:port`, for clients. */
  readonly broker: string;
  readonly directory: string;
  /** The folder in it that holds all that the broker keeps. */
  readonly data: string;
  /** Can be frozen, killed and started again: port and data stay. */
  readonly process: ServerProcess;
  /** Waits until the broker answers again, say after `process.start()`. */
  ready(): Promise<void>;
  /** Ends it; returns when it is gone. The directory stays, for its log. */
  stop(): Promise<void>;
}

/** Another program may take a chosen port before the broker does; other ports then. */
const ATTEMPTS = 3;

/**
 * Starts a broker, fetches it first if need be, and returns when it answers (3–6 s).
 *
 * @throws LocalError see its codes; nothing is left running then
 */
export async function startKafka(options: KafkaOptions): Promise<Kafka> {
  const jars = join(await ensureKafkaJars(), '*');
  for (let attempt = 1; ; attempt += 1) {
    try {
      const [controllerPort = 0, free = 0] = await freePorts(2);
      return await startOn(options.port ?? free, controllerPort, jars, options);
    } catch (error) {
      const taken = error instanceof LocalError && /[Aa]ddress already in use/.test(error.message);
      if (!taken || options.port !== undefined || attempt === ATTEMPTS) throw error;
    }
  }
}

async function startOn(port: number, controllerPort: number, jars: string, options: KafkaOptions): Promise<Kafka> {
  const { directory, readyTimeoutMilliseconds = 60_000 } = options;
  mkdirSync(directory, { recursive: true, mode: 0o700 });
  const configuration = join(directory, 'server.properties');
  const lines = Object.entries({ ...properties(directory, port, controllerPort), ...options.properties });
  writeFileSync(configuration, lines.map(([name, value]) => `${name}=${value}\n`).join(''));

  // Quick to start rather than quick for long; nothing of the broker's is worth a bigger heap here.
  const java = ['-Xmx512m', '-XX:+UseSerialGC', '-XX:-UsePerfData', '-cp', jars];
  const format = [
    ...java,
    'kafka.tools.StorageTool',
    'format',
    '--ignore-formatted',
    '-t',
    clusterId(),
    '-c',
    configuration,
  ];
  const formatted = await run('java', format, () => new LocalError('java-missing', 'java has gone'));
  if (formatted.status !== 0) throw new LocalError('exited', `Kafka could not format its data:\n${formatted.output}`);

  const server = new ServerProcess({
    name: 'kafka',
    program: 'java',
    args: [...java, 'kafka.Kafka', configuration],
    log: join(directory, 'kafka.log'),
  });
  const ready = () => server.ready(() => answers(port), readyTimeoutMilliseconds);
  // It hands over its partitions in peace before it ends.
  const stop = () => server.stop(15_000);
  try {
    await server.start();
    await ready();
  } catch (error) {
    await server.kill();
    throw error;
  }
  return { broker: `127.0.0.1:${port}`, directory, data: data(directory), process: server, ready, stop };
}

function properties(directory: string, port: number, controllerPort: number): Record<string, string> {
  return {
    'process.roles': 'broker,controller',
    'node.id': '1',
    'controller.quorum.voters': `1@127.0.0.1:${controllerPort}`,
    'controller.listener.names': 'CONTROLLER',
    listeners: `PLAINTEXT://127.0.0.1:${port},CONTROLLER://127.0.0.1:${controllerPort}`,
    'advertised.listeners': `PLAINTEXT://127.0.0.1:${port}`,
    'log.dirs': data(directory),
    // After a kill, the broker may come back only when the controller has given up the one that was killed.
    'broker.session.timeout.ms': '1000',
    'broker.heartbeat.interval.ms': '200',
    // Each partition has two index files, made at this size: 10 MB by default.
    'log.index.size.max.bytes': '131072',
    'auto.create.topics.enable': 'false',
    'offsets.topic.replication.factor': '1',
    'transaction.state.log.replication.factor': '1',
    'transaction.state.log.min.isr': '1',
  };
}

function data(directory: string): string {
  return join(directory, 'data');
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
