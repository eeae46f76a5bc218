import type { Topic } from '@sluice/bus';
import type { Clock, Logger, Random } from '@sluice/runtime';
import { BusSetupError } from './errors.ts';

/** How Sluice shows who it is. All of it is secret: it is never logged and in no error. */
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
  /** PEM texts. Given, even empty, TLS is required; `cert` and `key` are for mutual TLS. */
  readonly tls?: { readonly ca?: string; readonly cert?: string; readonly key?: string };
  /** Streams and subjects begin with it: several fleets may share a server. Default `sluice`. */
  readonly fleet?: string;
  /** Set once for a fleet. */
  readonly partitions: number;
  /** Shown in the server's monitoring. Default `sluice`. */
  readonly clientName?: string;
  /** Copies of each stream: 1, 3 or 5. Default 1. */
  readonly replicas?: number;
  /** For how long a repeated id is recognised. Default 2 minutes. */
  readonly duplicateWindowMs?: number;
  /** How long records are kept. Default 24 hours, `requests` 1 hour. */
  readonly maxAgeMs?: Partial<Readonly<Record<Topic, number>>>;
  /** Size of each stream, at which its oldest records go. The server sets it aside. Default 64 MiB, `requests` 16 MiB. */
  readonly maxBytes?: Partial<Readonly<Record<Topic, number>>>;
  /** How long a server is waited for at the start. Default 30 s; afterwards it is waited for without end. */
  readonly connectWithinMs?: number;
}

export interface JetStreamBusPorts {
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

/** Enough for a try on one server. */
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
    clientName: options.clientName ?? 'sluice',
    replicas: options.replicas ?? defaults.replicas,
    duplicateWindowMs: options.duplicateWindowMs ?? defaults.duplicateWindowMs,
    maxAgeMs: { ...defaults.maxAgeMs, ...options.maxAgeMs },
    maxBytes: { ...defaults.maxBytes, ...options.maxBytes },
    connectWithinMs: options.connectWithinMs ?? defaults.connectWithinMs,
  };
  check(all.servers.length > 0, 'no NATS server is given: at least one nats://host:port is needed');
  for (const server of all.servers) {
    // The address itself is not shown: it holds the secret.
    check(!server.includes('@'), "a NATS server's address must not hold credentials; give them separately");
  }
  check(/^[A-Za-z0-9_-]{1,64}$/.test(all.fleet), `fleet "${all.fleet}": only letters, digits, "_" and "-", at most 64`);
  check(Number.isInteger(all.partitions) && all.partitions > 0, `${all.partitions} partitions: at least 1 is needed`);
  check([1, 3, 5].includes(all.replicas), `${all.replicas} replicas: 1, 3 or 5 are possible`);
  for (const [topic, ms] of Object.entries(all.maxAgeMs)) {
    check(ms >= all.duplicateWindowMs, `${topic}: records must be kept for at least the duplicate window`);
  }
  return all;
}

function check(good: boolean, complaint: string): asserts good {
  if (!good) throw new BusSetupError('BUS_OPTIONS', complaint);
}
