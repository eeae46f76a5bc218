import { mkdirSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { ensureNatsServer } from './binaries.ts';
import { onFreePorts } from './free-ports.ts';
import { type RunningServer, startServer } from './running-server.ts';

export interface NatsOptions {
  /** Its data, configuration and log; made if missing. Data that is there is taken up again. */
  readonly directory: string;
  /** Unlike the others of its cluster. Default `local`. */
  readonly name?: string;
  /** Clients must show this token. Default: anybody may come. */
  readonly token?: string;
  /** Default: a free one. */
  readonly port?: number;
  /**
   * How often JetStream waits for the disk: `always`, before each acknowledgement, or a duration. Default 1s; the
   * server's own is 2m.
   */
  readonly syncInterval?: string;
  /** The largest message, headers included, in bytes. Default 8 MiB; the server's own is 1 MiB. */
  readonly maxPayload?: number;
  /** More lines for the configuration file. */
  readonly configuration?: string;
}

/** A running nats-server with JetStream on loopback. */
export interface Nats extends RunningServer {
  readonly url: string;
  readonly directory: string;
}

/**
 * Starts nats-server, builds it first if need be, and returns when it answers.
 *
 * @throws LocalError see its codes; nothing is left running then
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
    { answers: () => greets(port), patienceMilliseconds: 60_000 },
  );
  return { ...server, url: `nats://127.0.0.1:${port}`, directory };
}

function configure(port: number, options: NatsOptions): string {
  const { directory, name = 'local', token, syncInterval = '1s', maxPayload = 8 * 1024 * 1024 } = options;
  return [
    `listen: "127.0.0.1:${port}"`,
    `server_name: ${name}`,
    `max_payload: ${maxPayload}`,
    // Room for what many streams set aside; the disk is not taken before they need it.
    `jetstream { store_dir: ${JSON.stringify(join(directory, 'data'))}, max_file_store: 1TB, sync_interval: ${syncInterval} }`,
    ...(token === undefined ? [] : [`authorization { token: ${JSON.stringify(token)} }`]),
    ...(options.configuration === undefined ? [] : [options.configuration]),
    '',
  ].join('\n');
}

/** The server opens its port for clients when JetStream has recovered its streams, and greets first. */
function greets(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect({ host: '127.0.0.1', port });
    const answer = (good: boolean) => {
      socket.destroy();
      resolve(good);
    };
    socket.setTimeout(1000, () => answer(false));
    socket.once('data', (greeting) => answer(greeting.toString().startsWith('INFO ')));
    socket.once('error', () => answer(false));
    socket.once('close', () => resolve(false));
  });
}
