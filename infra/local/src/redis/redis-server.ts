import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { cpSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { Redis } from 'ioredis';
import { onFreePorts } from '../free-ports.ts';
import { LocalError } from '../local-error.ts';
import { makeServingCertificate, type ServingCertificate } from '../openssl.ts';
import { ServerProcess } from '../server-process.ts';

export interface RedisServerOptions {
  /** For its configuration, data and log. Existing content is removed. */
  readonly directory: string;
  /** Name in messages. Default `redis`. */
  readonly name?: string;
  /** Additional lines of redis.conf. A repeated setting overrides the default. */
  readonly settings?: Readonly<Record<string, string>>;
  /** Rules by user name, as for `ACL SETUSER`. If set, all clients must authenticate. */
  readonly users?: Readonly<Record<string, string>>;
  /** Listens with TLS only. */
  readonly tls?: boolean;
  /** Runs in cluster mode, with an additional port for the cluster bus. */
  readonly cluster?: boolean;
}

/** A running redis-server on loopback. It keeps port and data when it is killed, and stops with this process. */
export interface RedisServer {
  readonly host: string;
  readonly port: number;
  /** Without user name and password. */
  readonly url: string;
  readonly busPort: number | undefined;
  readonly certificate: ServingCertificate | undefined;
  /** Can be frozen and killed. Start it again with `restart`. */
  readonly process: ServerProcess;
  /** A connection with all permissions. The caller disconnects it. */
  connect(): Redis;
  /**
   * Kills the server if it runs, starts it and waits until it answers. An append-only file that a full disk has left unreadable
   * is truncated to its readable part.
   */
  restart(): Promise<void>;
  /** Waits until all acknowledged writes are in its files. A kill before that may lose a second or two. */
  persisted(): Promise<void>;
  /** Copies its files, including all acknowledged writes. */
  snapshot(): Promise<string>;
  /** Kills the server and starts it with the data of the snapshot, or without data. */
  restore(snapshot: string | undefined): Promise<void>;
  stop(): Promise<void>;
}

const PROGRAM = 'redis-server';
const HOST = '127.0.0.1';
const ADMIN = { user: 'local-admin', password: randomBytes(24).toString('hex') };

/**
 * Starts the distribution's redis-server with an append-only file and `appendfsync everysec`.
 *
 * @throws LocalError `redis-missing`, `exited` or `not-ready`, and leaves nothing running
 */
export async function startRedis(options: RedisServerOptions): Promise<RedisServer> {
  await requireRedis();
  return onFreePorts(2, (ports) => startOn(ports, options));
}

/** @throws LocalError `redis-missing` */
async function requireRedis(): Promise<void> {
  try {
    await promisify(execFile)(PROGRAM, ['--version']);
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new LocalError(
      'redis-missing',
      `${PROGRAM} is required: install it (Debian: apt-get install redis-server) and make sure that it is on the PATH (${reason.trim()})`,
    );
  }
}

async function startOn(ports: readonly number[], options: RedisServerOptions): Promise<RedisServer> {
  const { directory, name = 'redis', tls = false } = options;
  const [port = 0, busPort = 0] = ports;
  const data = join(directory, 'data');
  rmSync(directory, { recursive: true, force: true });
  mkdirSync(data, { recursive: true, mode: 0o700 });
  const certificate = tls ? await makeServingCertificate(directory, name) : undefined;
  const file = join(directory, 'redis.conf');
  const lines = configuration(options, port, busPort, data, certificate);
  // In a file, because all users of the machine can read the arguments.
  writeFileSync(file, lines.map((line) => `${line}\n`).join(''), { mode: 0o600 });
  const server = new ServerProcess({ name, program: PROGRAM, args: [file], log: join(directory, 'redis.log') });

  const connect = () =>
    new Redis({
      host: HOST,
      port,
      ...(options.users === undefined ? {} : { username: ADMIN.user, password: ADMIN.password }),
      ...(tls ? { tls: { rejectUnauthorized: false } } : {}),
    }).on('error', () => {});
  const start = async () => {
    await server.start();
    await server.ready(() => isReady(connect));
  };
  let snapshots = 0;
  try {
    await start();
  } catch (error) {
    await server.kill();
    throw error;
  }
  return {
    host: HOST,
    port,
    url: `${tls ? 'rediss' : 'redis'}://${HOST}:${port}`,
    busPort: options.cluster === true ? busPort : undefined,
    certificate,
    process: server,
    connect,
    async restart() {
      await server.kill();
      await start().catch(async (error: unknown) => {
        if (!(await repaired(data))) throw error;
        await start();
      });
    },
    persisted: () => persisted(connect),
    async snapshot() {
      snapshots += 1;
      const copy = join(directory, `snapshot-${snapshots}`);
      await persisted(connect);
      await server.freeze();
      try {
        cpSync(data, copy, { recursive: true });
      } finally {
        server.signal('SIGCONT');
      }
      return copy;
    },
    async restore(snapshot) {
      await server.kill();
      rmSync(data, { recursive: true, force: true });
      if (snapshot === undefined) mkdirSync(data, { mode: 0o700 });
      else cpSync(snapshot, data, { recursive: true });
      await start();
    },
    stop: () => server.stop(),
  };
}

/** Whether the last append-only file was or is readable now. */
function repaired(data: string): Promise<boolean> {
  const manifest = join(data, 'appendonlydir', 'appendonly.aof.manifest');
  return new Promise((resolve) => {
    const check = execFile('redis-check-aof', ['--fix', manifest], (error) => resolve(error === null));
    // Confirms the truncation.
    check.stdin?.end('y\n');
  });
}

function configuration(
  { settings = {}, users, cluster = false, tls = false }: RedisServerOptions,
  port: number,
  busPort: number,
  data: string,
  certificate: ServingCertificate | undefined,
): readonly string[] {
  return [
    `bind ${HOST}`,
    `port ${tls ? 0 : port}`,
    `dir ${data}`,
    'appendonly yes',
    'appendfsync everysec',
    'save ""',
    ...(certificate === undefined
      ? []
      : [
          `tls-port ${port}`,
          `tls-ca-cert-file ${certificate.ca}`,
          `tls-cert-file ${certificate.certificate}`,
          `tls-key-file ${certificate.key}`,
          'tls-auth-clients no',
        ]),
    ...(cluster
      ? ['cluster-enabled yes', `cluster-port ${busPort}`, 'cluster-node-timeout 2000', 'cluster-announce-ip 127.0.0.1']
      : []),
    // Redis replays the append-only file with the permissions of `default`; without them it loses all scripts.
    ...(users === undefined
      ? []
      : ['user default off ~* &* +@all', `user ${ADMIN.user} on >${ADMIN.password} ~* &* +@all`]),
    ...Object.entries(users ?? {}).map(([user, rules]) => `user ${user} ${rules}`),
    ...Object.entries(settings).map(([setting, value]) => `${setting} ${value === '' ? '""' : value}`),
  ];
}

/** Whether it has loaded its data and accepts commands. */
async function isReady(connect: () => Redis): Promise<boolean> {
  const client = connect();
  client.options.maxRetriesPerRequest = 0;
  try {
    return (await client.ping()) === 'PONG';
  } catch {
    return false;
  } finally {
    client.disconnect();
  }
}

/** During an fsync, redis-server buffers writes that it acknowledges. */
async function persisted(connect: () => Redis): Promise<void> {
  const client = connect();
  try {
    for (;;) {
      const [, buffered = '0'] = /^aof_buffer_length:(\d+)/m.exec(await client.info('persistence')) ?? [];
      if (buffered === '0') return;
      await sleep(10);
    }
  } finally {
    client.disconnect();
  }
}
