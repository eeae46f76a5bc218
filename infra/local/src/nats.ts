import { mkdirSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { ensureNatsServer } from './binaries.ts';
import { onFreePorts } from './free-ports.ts';
import { type RunningServer, startServer } from './running-server.ts';

export interface NatsOptions {
  /** For its data, configuration and log; created if missing. Existing data is kept. */
  readonly directory: string;
  /** Server name, unique within a cluster. Default `local`. */
  readonly name?: string;
  /** Token that clients must present. Default: no authentication. */
  readonly token?: string;
  /** Default: a free port. */
  readonly port?: number;
  /**
   * How often JetStream calls fsync: `always` (before each acknowledgement) or a duration. Default 10s; the server's default
   * is 2m.
   */
  readonly syncInterval?: string;
  /** Size limit of a message including headers, in bytes. Default 8 MiB; the server's default is 1 MiB. */
  readonly maxPayload?: number;
  /** Additional lines for the configuration file. */
  readonly configuration?: string;
}

/** A running nats-server with JetStream on loopback. */
export interface Nats extends RunningServer {
  readonly url: string;
  readonly directory: string;
}

/**
 * Starts nats-server, building it first if necessary, and waits until it answers.
 *
 * @throws LocalError and leaves nothing running
 */
export async function startNats(options: NatsOptions): Promise<Nats> {
  const { port } = options;
  return port === undefined ? onFreePorts(1, ([free = 0]) => startOn(free, options)) : startOn(port, options);
}

async function startOn(port: number, options: NatsOptions): Promise<Nats> {
  const { directory } = options;
  mkdirSync(directory, { recursive: true, mode: 0o700 });
  const configuration = join(directory, 'nats.conf');
  writeFileSync(configuration, configure(port, options), { mode: 0o600 });
  const server = await startServer(
    {
      name: 'nats-server',
      program: await ensureNatsServer(),
      args: ['--config', configuration],
      log: join(directory, 'nats-server.log'),
    },
    { isReady: () => sendsInfo(port) },
  );
  return { ...server, url: `nats://127.0.0.1:${port}`, directory };
}

function configure(port: number, options: NatsOptions): string {
  const { directory, name = 'local', token, syncInterval = '10s', maxPayload = 8 * 1024 * 1024 } = options;
  return [
    `listen: "127.0.0.1:${port}"`,
    `server_name: ${name}`,
    `max_payload: ${maxPayload}`,
    // Large enough for the reservations of many streams. Reservations do not use disk space.
    `jetstream { store_dir: ${JSON.stringify(join(directory, 'data'))}, max_file_store: 1TB, sync_interval: ${syncInterval} }`,
    ...(token === undefined ? [] : [`authorization { token: ${JSON.stringify(token)} }`]),
    ...(options.configuration === undefined ? [] : [options.configuration]),
    '',
  ].join('\n');
}

/** The server opens its client port once JetStream has recovered its streams, and sends INFO first. */
function sendsInfo(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect({ host: '127.0.0.1', port });
    const finish = (isReady: boolean) => {
      socket.destroy();
      resolve(isReady);
    };
    socket.setTimeout(1000, () => finish(false));
    socket.once('data', (message) => finish(message.toString().startsWith('INFO ')));
    socket.once('error', () => finish(false));
    socket.once('close', () => resolve(false));
  });
}
