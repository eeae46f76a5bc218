import {
  AuthorizationError,
  type NatsConnection,
  PermissionViolationError,
  TimeoutError,
  UserAuthenticationExpiredError,
} from '@nats-io/nats-core';
import { connect, type NodeConnectionOptions } from '@nats-io/transport-node';
import {
  backoffMs,
  type Clock,
  type Logger,
  type Random,
  sleep,
  tlsMaterialProblem,
  tlsProblem,
} from '@sluice/runtime';
import { authenticator } from './authenticate.ts';
import { BusSetupError } from './errors.ts';
import type { JetStreamBusPorts, Settings } from './options.ts';
import { probeTls } from './probe-tls.ts';

/** The oldest server that Sluice is tested with. */
const oldestServer = [2, 14] as const;

/** A server that is frozen or unreachable is noticed after at most three of them. */
const pingIntervalMs = 5000;

/** Until the first connection. */
const connectBackoff = { baseMs: 50, maxMs: 5000 };

/**
 * Afterwards a server is tried about five times a second, at random moments: a restart takes as long, and a fleet has few
 * connections. (The library asks for the delay several times between two attempts, so it must not grow.)
 */
const reconnectMs = { least: 100, spread: 200 };

/**
 * The connection to NATS: it comes back by itself, and says when it is away and when it is back. Of an absence it logs
 * one warning, and one line when it is over.
 */
export class NatsLink {
  readonly nc: NatsConnection;
  readonly #logger: Logger;
  readonly #downListeners = new Set<() => void>();
  #waiting: (() => void)[] = [];
  #up = true;
  #closed = false;

  constructor(nc: NatsConnection, logger: Logger) {
    this.nc = nc;
    this.#logger = logger;
    void this.#follow();
  }

  get closed(): boolean {
    return this.#closed;
  }

  get up(): boolean {
    return this.#up && !this.#closed;
  }

  /** The largest message that the server takes, headers included, in bytes. */
  get maxPayload(): number {
    return this.nc.info?.max_payload ?? 1024 * 1024;
  }

  /** Resolves while or once the server is there, and once the link is closed. */
  whenUp(): Promise<void> {
    if (this.#up || this.#closed) return Promise.resolve();
    return new Promise((resolve) => this.#waiting.push(resolve));
  }

  /** Calls when the connection is lost or closed: what was asked for will not be answered. Returns how to stop. */
  onDown(listener: () => void): () => void {
    this.#downListeners.add(listener);
    return () => this.#downListeners.delete(listener);
  }

  async close(): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    this.#down();
    this.#release();
    await this.nc.close();
  }

  async #follow(): Promise<void> {
    for await (const status of this.nc.status()) {
      if (this.#closed) return;
      if (status.type === 'disconnect' && this.#up) {
        this.#up = false;
        this.#logger.warn('NATS is away; waiting for it', { server: status.server });
        this.#down();
      } else if (status.type === 'reconnect') {
        this.#up = true;
        this.#logger.info('NATS is back', { server: status.server });
        this.#release();
      } else if (status.type === 'error' && status.error instanceof PermissionViolationError) {
        const { operation, subject } = status.error;
        this.#logger.error('NATS forbids what Sluice needs; docs/nats.md lists it', { operation, subject });
      } else if (status.type === 'error') {
        this.#logger.warn('NATS reports an error', { error: status.error });
      }
    }
  }

  #down(): void {
    for (const listener of [...this.#downListeners]) listener();
  }

  #release(): void {
    for (const resolve of this.#waiting.splice(0)) resolve();
  }
}

/**
 * Connects, and waits for a server that is not there yet as long as the settings say.
 *
 * @throws BusSetupError `BUS_UNREACHABLE`, `BUS_CREDENTIALS`, `BUS_TLS`, `BUS_SERVER_TOO_OLD`
 */
export async function openLink(settings: Settings, { clock, random, logger }: JetStreamBusPorts): Promise<NatsLink> {
  const material = tlsMaterialProblem(settings.tls ?? {});
  if (material !== undefined) throw new BusSetupError('BUS_TLS', `TLS for NATS: ${material}`);
  const options = connectionOptions(settings, random);
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
        const shown = settings.credentials === undefined ? 'none were given' : 'they are wrong or have expired';
        throw new BusSetupError('BUS_CREDENTIALS', `NATS at ${servers} refuses the credentials: ${shown}`);
      }
      const distrust = await whyNoTls(error, settings, clock);
      if (distrust !== undefined) throw new BusSetupError('BUS_TLS', `NATS at ${servers}: ${distrust}`, error);
      if (clock.monotonic() > deadline) {
        const reason = error instanceof Error ? error.message : String(error);
        throw new BusSetupError('BUS_UNREACHABLE', `NATS at ${servers} cannot be reached: ${reason}`, error);
      }
      if (attempt === 0) logger.warn('NATS cannot be reached yet; waiting for it', { servers, error });
      await sleep(clock, backoffMs(connectBackoff, attempt, random));
    }
  }
}

async function whyNoTls(error: unknown, { servers, tls }: Settings, clock: Clock): Promise<string | undefined> {
  if (error instanceof Error && error.message === "server does not support 'tls'") return 'it offers no TLS';
  const [server] = servers;
  if (error instanceof TimeoutError && tls !== undefined && server !== undefined) {
    return await probeTls(server, tls, clock);
  }
  return tlsProblem(error);
}

function connectionOptions(settings: Settings, random: Random): NodeConnectionOptions {
  return {
    servers: [...settings.servers],
    name: settings.clientName,
    ...(settings.tls !== undefined && { tls: { ...settings.tls } }),
    ...(settings.credentials !== undefined && { authenticator: authenticator(settings.credentials) }),
    inboxPrefix: `_INBOX_${settings.fleet}`,
    maxReconnectAttempts: -1,
    // Credentials may be rotated under a running process.
    ignoreAuthErrorAbort: true,
    reconnectDelayHandler: () => reconnectMs.least + random.next() * reconnectMs.spread,
    pingInterval: pingIntervalMs,
    maxPingOut: 2,
    timeout: 5000,
    noAsyncTraces: true,
  };
}

async function checkVersion(nc: NatsConnection): Promise<void> {
  const version = nc.info?.version ?? '';
  if (isSupported(version)) return;
  const server = nc.getServer();
  await nc.close();
  const needed = oldestServer.join('.');
  throw new BusSetupError('BUS_SERVER_TOO_OLD', `NATS at ${server} is ${version}; Sluice needs ${needed} or newer`);
}

export function isSupported(version: string): boolean {
  const [major = 0, minor = 0] = version.split('.').map(Number);
  return major > oldestServer[0] || (major === oldestServer[0] && minor >= oldestServer[1]);
}
