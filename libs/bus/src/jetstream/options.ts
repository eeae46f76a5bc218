import type { Clock, Logger, Random } from '@sluice/platform';
import { BusSetupError as SetupError, type Topic } from '../index.ts';

/** Secret: never logged and never part of an error message. */
export type NatsCredentials =
  | { readonly token: string }
  | { readonly user: string; readonly password: string }
  /** Seed of an nkey (`SU…`). */
  | { readonly nkeySeed: string }
  /** Content of a `.creds` file: a JWT and its seed. */
  | { readonly creds: string };

export interface JetStreamBusOptions {
  /** `nats://host:port` or `tls://host:port`, without credentials. */
  readonly servers: readonly string[];
  readonly credentials?: NatsCredentials;
  /** PEM texts. TLS is required if this is set, even if empty. `cert` and `key` are for mutual TLS. */
  readonly tls?: { readonly ca?: string; readonly cert?: string; readonly key?: string };
  /** Prefix of streams and subjects, so several fleets can share a server. Default `sluice`. */
  readonly fleet?: string;
  /** Name under which a connection without a user name receives replies. Default: `fleet`. */
  readonly inboxOwner?: string;
  /** Never changes: a fleet with a different partition count has its own logs. */
  readonly partitions: number;
  /** Shown in the server's monitoring. Default `sluice`. */
  readonly clientName?: string;
  /** Replicas of each stream: 1, 3 or 5. Default 1. */
  readonly replicas?: number;
  /** How long the server recognises a repeated record id. Default 2 minutes. */
  readonly duplicateWindowMs?: number;
  /** How long records are kept. Default 24 hours, `requests` 1 hour. */
  readonly maxAgeMs?: Partial<Readonly<Record<Topic, number>>>;
  /** Size limit of each stream; the oldest records are deleted. The server reserves it. Default 64 MiB, `requests` 16 MiB. */
  readonly maxBytes?: Partial<Readonly<Record<Topic, number>>>;
  /** How long `connectJetStreamBus` waits for a server. Default 30 s. A connected bus waits indefinitely. */
  readonly connectWithinMs?: number;
}

/** What a connection authenticates with. */
export type NatsSecrets = Pick<JetStreamBusOptions, 'credentials' | 'tls'>;

export interface JetStreamBusPorts {
  /** Returns the secrets for a new connection, which may have been rotated. Default: those of the options. */
  readonly secrets?: (() => NatsSecrets) | undefined;
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
}

export type Settings = Required<Omit<JetStreamBusOptions, 'credentials' | 'tls' | 'maxAgeMs' | 'maxBytes'>> &
  Pick<JetStreamBusOptions, 'credentials' | 'tls'> & {
    readonly maxAgeMs: Readonly<Record<Topic, number>>;
    readonly maxBytes: Readonly<Record<Topic, number>>;
  };

const hourMs = 3_600_000;
const mebibyte = 1024 * 1024;

/** For one server. */
export const defaultJetStreamOptions = {
  replicas: 1,
  duplicateWindowMs: 120_000,
  maxAgeMs: { changes: 24 * hourMs, mutations: 24 * hourMs, requests: hourMs },
  maxBytes: { changes: 64 * mebibyte, mutations: 64 * mebibyte, requests: 16 * mebibyte },
  connectWithinMs: 30_000,
} as const satisfies Partial<JetStreamBusOptions>;

/** The options with their defaults. Throws BusSetupError `BUS_OPTIONS`. */
export function settings(options: JetStreamBusOptions): Settings {
  const defaults = defaultJetStreamOptions;
  const all: Settings = {
    ...options,
    fleet: options.fleet ?? 'sluice',
    inboxOwner: options.inboxOwner ?? options.fleet ?? 'sluice',
    clientName: options.clientName ?? 'sluice',
    replicas: options.replicas ?? defaults.replicas,
    duplicateWindowMs: options.duplicateWindowMs ?? defaults.duplicateWindowMs,
    maxAgeMs: { ...defaults.maxAgeMs, ...options.maxAgeMs },
    maxBytes: { ...defaults.maxBytes, ...options.maxBytes },
    connectWithinMs: options.connectWithinMs ?? defaults.connectWithinMs,
  };
  check(all.servers.length > 0, 'no NATS server given; need at least one nats://host:port');
  for (const server of all.servers) {
    // The message omits the address because it contains the secret.
    check(!server.includes('@'), 'a NATS server address must not contain credentials; set them separately');
  }
  check(
    /^[A-Za-z0-9_-]{1,64}$/.test(all.fleet),
    `invalid fleet name "${all.fleet}": use up to 64 letters, digits, "_" and "-"`,
  );
  check(
    Number.isInteger(all.partitions) && all.partitions > 0,
    `invalid number of partitions ${all.partitions}; need at least 1`,
  );
  check([1, 3, 5].includes(all.replicas), `invalid number of replicas ${all.replicas}; use 1, 3 or 5`);
  for (const [topic, ms] of Object.entries(all.maxAgeMs)) {
    check(ms >= all.duplicateWindowMs, `max age of ${topic} is less than the duplicate window`);
  }
  return all;
}

/**
 * Prefix of the subjects on which a connection receives replies. Each user has its own, so that no user can read what
 * another receives.
 */
export function inboxPrefix({ credentials, inboxOwner }: Pick<Settings, 'credentials' | 'inboxOwner'>): string {
  const owner = credentials !== undefined && 'user' in credentials ? credentials.user : inboxOwner;
  return `_INBOX_${owner.replace(/[^A-Za-z0-9_-]/g, '_')}`;
}

function check(valid: boolean, message: string): asserts valid {
  if (!valid) throw new BusSetupError('BUS_OPTIONS', message);
}

/** Retrying helps only with `BUS_UNREACHABLE`. */
export class BusSetupError extends SetupError<BusSetupCode> {}

type BusSetupCode =
  | 'BUS_OPTIONS'
  | 'BUS_UNREACHABLE'
  | 'BUS_CREDENTIALS'
  /** One side does not trust the other's certificate, or does not speak TLS. */
  | 'BUS_TLS'
  | 'BUS_FORBIDDEN'
  | 'BUS_SERVER_TOO_OLD'
  | 'BUS_NO_JETSTREAM'
  | 'BUS_STREAM_MISMATCH'
  /** The streams belong to a fleet with a different partition count. */
  | 'BUS_OTHER_PARTITIONS'
  | 'BUS_STREAM_REFUSED';
