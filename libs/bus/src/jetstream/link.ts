import {
  type Authenticator,
  AuthorizationError,
  type NatsConnection,
  PermissionViolationError,
  TimeoutError,
  type TlsOptions,
  UserAuthenticationExpiredError,
} from '@nats-io/nats-core';
import { connect, type NodeConnectionOptions } from '@nats-io/transport-node';
import {
  backoffMs,
  type Clock,
  errorMessage,
  type Logger,
  sleep,
  tlsMaterialProblem,
  tlsProblem,
} from '@sluice/platform';
import { authenticator } from './authenticate.ts';
import {
  BusSetupError,
  inboxPrefix,
  type JetStreamBusPorts,
  type NatsCredentials,
  type NatsSecrets,
  type Settings,
} from './options.ts';
import { reconnectPacing } from './reconnect-pacing.ts';
import { probeTls, serverIdentity } from './tls.ts';

/** Oldest server version that Sluice is tested with. */
const oldestServer = [2, 14] as const;

/** A frozen or unreachable server is detected after at most three pings. */
const pingIntervalMs = 5000;

/** For the first connection. */
const connectBackoff = { baseMs: 50, maxMs: 5000 };

/**
 * The connection to NATS. It reconnects by itself, notifies listeners when it is lost, and logs one warning per outage and
 * one line when it is over.
 */
export class NatsLink {
  readonly nc: NatsConnection;
  readonly #logger: Logger;
  readonly #downListeners = new Set<() => void>();
  #waiting: (() => void)[] = [];
  #maxPayload: number;
  #up = true;
  #closed = false;

  constructor(nc: NatsConnection, logger: Logger) {
    this.nc = nc;
    this.#logger = logger;
    this.#maxPayload = nc.info?.max_payload ?? 1024 * 1024;
    void this.#follow();
  }

  get closed(): boolean {
    return this.#closed;
  }

  get up(): boolean {
    return this.#up && !this.#closed;
  }

  /** Size limit of a message including headers, in bytes. The client forgets it while it is disconnected. */
  get maxPayload(): number {
    this.#maxPayload = this.nc.info?.max_payload ?? this.#maxPayload;
    return this.#maxPayload;
  }

  /** Resolves when the connection is up or the link is closed. */
  whenUp(): Promise<void> {
    if (this.#up || this.#closed) return Promise.resolve();
    return new Promise((resolve) => this.#waiting.push(resolve));
  }

  /** Calls `listener` when the connection is lost or closed: pending requests get no reply. Returns an unsubscriber. */
  onDown(listener: () => void): () => void {
    this.#downListeners.add(listener);
    return () => this.#downListeners.delete(listener);
  }

  async close(): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    this.#notifyDown();
    this.#notifyUp();
    await this.nc.close();
  }

  async #follow(): Promise<void> {
    for await (const status of this.nc.status()) {
      if (this.#closed) return;
      if (status.type === 'disconnect' && this.#up) {
        this.#up = false;
        this.#logger.warn('NATS connection lost; reconnecting', { server: status.server });
        this.#notifyDown();
      } else if (status.type === 'reconnect') {
        this.#up = true;
        this.#logger.info('NATS reconnected', { server: status.server });
        this.#notifyUp();
      } else if (status.type === 'error' && status.error instanceof PermissionViolationError) {
        const { operation, subject } = status.error;
        this.#logger.error('NATS permission denied; docs/guides/nats.md lists the required permissions', {
          operation,
          subject,
        });
      } else if (status.type === 'error') {
        this.#logger.warn('NATS error', { error: status.error });
      }
    }
  }

  #notifyDown(): void {
    for (const listener of [...this.#downListeners]) listener();
  }

  #notifyUp(): void {
    for (const resolve of this.#waiting.splice(0)) resolve();
  }
}

/**
 * Connects. Retries for `connectWithinMs` if no server is reachable, or until `signal` aborts.
 *
 * @throws the reason of `signal`
 * @throws BusSetupError `BUS_UNREACHABLE`, `BUS_CREDENTIALS`, `BUS_TLS`, `BUS_SERVER_TOO_OLD`
 */
export async function openLink(settings: Settings, ports: JetStreamBusPorts, signal?: AbortSignal): Promise<NatsLink> {
  const { clock, random, logger, secrets = () => settings } = ports;
  const material = tlsMaterialProblem(settings.tls ?? {});
  if (material !== undefined) throw new BusSetupError('BUS_TLS', `TLS settings for NATS: ${material}`);
  const options = connectionOptions(settings, secrets, ports);
  const deadline = clock.monotonic() + settings.connectWithinMs;
  const servers = settings.servers.join(', ');
  for (let attempt = 0; ; attempt++) {
    try {
      const nc = await connect(options);
      await checkVersion(nc);
      return new NatsLink(nc, logger);
    } catch (error) {
      if (error instanceof BusSetupError) throw error;
      if (error instanceof AuthorizationError || error instanceof UserAuthenticationExpiredError) {
        const reason = settings.credentials === undefined ? 'none were given' : 'they are wrong or have expired';
        throw new BusSetupError('BUS_CREDENTIALS', `NATS at ${servers} rejects the credentials: ${reason}`);
      }
      const problem = await findTlsProblem(error, settings, clock);
      if (problem !== undefined) {
        throw new BusSetupError('BUS_TLS', `TLS connection to NATS at ${servers} failed: ${problem}`, error);
      }
      if (clock.monotonic() > deadline) {
        const reason = errorMessage(error);
        const message = `cannot reach NATS at ${servers}: ${reason}. Check bus.servers and the NATS server.`;
        throw new BusSetupError('BUS_UNREACHABLE', message, error);
      }
      signal?.throwIfAborted();
      if (attempt === 0) logger.warn('NATS unreachable; retrying', { servers, error });
      await sleep(clock, backoffMs(connectBackoff, attempt, random), signal);
      signal?.throwIfAborted();
    }
  }
}

async function findTlsProblem(error: unknown, { servers, tls }: Settings, clock: Clock): Promise<string | undefined> {
  if (error instanceof Error && error.message === "server does not support 'tls'")
    return 'the server does not offer TLS';
  const [server] = servers;
  if (error instanceof TimeoutError && tls !== undefined && server !== undefined) {
    return await probeTls(server, tls, clock);
  }
  return tlsProblem(error);
}

function connectionOptions(
  settings: Settings,
  secrets: () => NatsSecrets,
  { clock, random }: JetStreamBusPorts,
): NodeConnectionOptions {
  return {
    servers: [...settings.servers],
    name: settings.clientName,
    // The client reads both at each connection.
    ...(settings.tls !== undefined && { tls: rereadTls(secrets, settings.servers) }),
    ...(settings.credentials !== undefined && { authenticator: rereadCredentials(settings.credentials, secrets) }),
    inboxPrefix: inboxPrefix(settings),
    maxReconnectAttempts: -1,
    // Credentials may be rotated under a running process.
    ignoreAuthErrorAbort: true,
    ...reconnectPacing(clock, random),
    pingInterval: pingIntervalMs,
    maxPingOut: 2,
    timeout: 5000,
    noAsyncTraces: true,
  };
}

function rereadCredentials(initial: NatsCredentials, secrets: () => NatsSecrets): Authenticator {
  // Reports malformed credentials before the first connection.
  authenticator(initial);
  return (nonce) => authenticator(secrets().credentials ?? initial)(nonce);
}

function rereadTls(secrets: () => NatsSecrets, servers: readonly string[]): TlsOptions {
  return {
    ...serverIdentity(servers),
    get ca() {
      return secrets().tls?.ca ?? '';
    },
    get cert() {
      return secrets().tls?.cert ?? '';
    },
    get key() {
      return secrets().tls?.key ?? '';
    },
  };
}

async function checkVersion(nc: NatsConnection): Promise<void> {
  const version = nc.info?.version ?? '';
  if (isSupported(version)) return;
  const server = nc.getServer();
  await nc.close();
  const needed = oldestServer.join('.');
  throw new BusSetupError(
    'BUS_SERVER_TOO_OLD',
    `NATS at ${server} has version ${version}; Sluice needs ${needed} or newer`,
  );
}

export function isSupported(version: string): boolean {
  const [major = 0, minor = 0] = version.split('.').map(Number);
  return major > oldestServer[0] || (major === oldestServer[0] && minor >= oldestServer[1]);
}
