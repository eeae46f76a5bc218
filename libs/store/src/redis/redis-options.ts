import { RedisStoreError } from './redis-error.ts';

/** Addresses, credentials and limits of the Redis connection. */
export interface RedisOptions {
  /**
   * `redis://host:port`, or `rediss://` for TLS: the standalone server, some nodes of a Cluster, or all sentinels. A URL may
   * contain user, password and, except for a Cluster, a database (`/2`).
   */
  readonly urls: readonly string[];
  /** Default `standalone`. */
  readonly topology?: RedisTopology;
  /** ACL user and password; take precedence over those in the URL. */
  readonly username?: string;
  readonly password?: string;
  readonly tls?: RedisTls;
  /** Prefix of every key, so that several fleets can share a Redis. */
  readonly fleet: string;
  /** How long a command waits for a connection or an answer before it rejects. Default 10,000 ms. */
  readonly commandTimeoutMs?: number;
  /** Maximum number of dead letters kept. Default 1,000. */
  readonly maxDeadLetters?: number;
  /** Maximum size of all dead letters kept, in bytes. Default 64 MiB. */
  readonly maxDeadLetterBytes?: number;
}

/** What a connection authenticates with. */
export type RedisSecrets = Pick<RedisOptions, 'urls' | 'username' | 'password' | 'tls' | 'topology'>;

export type RedisTopology =
  | { readonly mode: 'standalone' }
  | { readonly mode: 'cluster' }
  | {
      readonly mode: 'sentinel';
      /** Name of the master in the sentinels' configuration. */
      readonly masterName: string;
      readonly username?: string;
      readonly password?: string;
    };

/** Certificates and key in PEM. */
export interface RedisTls {
  /** Certificate authorities. Default: those of the system. */
  readonly ca?: string;
  readonly cert?: string;
  readonly key?: string;
  /** Name expected in the server's certificate. Default: the host of the URL. */
  readonly serverName?: string;
}

/** The settings parsed from all URLs. */
export interface RedisAddresses {
  readonly hosts: readonly { readonly host: string; readonly port: number }[];
  readonly tls: boolean;
  readonly username: string | undefined;
  readonly password: string | undefined;
  readonly database: number;
}

const DEFAULT_PORTS = { sentinel: 26379, standalone: 6379, cluster: 6379 };

/** @throws RedisStoreError OPTIONS; its message never contains a password */
export function readAddresses({
  urls,
  topology = { mode: 'standalone' },
  fleet,
  ...user
}: RedisOptions): RedisAddresses {
  const { mode } = topology;
  if (!/^[\w.-]+$/.test(fleet)) {
    throw invalid(`fleet name ${JSON.stringify(fleet)}: use only letters, digits, ".", "_" and "-"`);
  }
  const parsed = urls.map((text, index) => parse(text, `Redis URL ${index + 1}`));
  const [first] = parsed;
  if (first === undefined) throw invalid('no Redis URL');
  if (mode === 'standalone' && parsed.length > 1)
    throw invalid('several Redis URLs require the topology cluster or sentinel');
  if (parsed.some(({ protocol }) => protocol !== first.protocol)) {
    throw invalid('either all Redis URLs must start with rediss:// or none');
  }
  const path = first.pathname.replace(/^\//, '');
  if (!/^\d{0,5}$/.test(path))
    throw invalid(`the path of a Redis URL must be the number of the database, got "/${path}"`);
  const database = Number(path);
  if (mode === 'cluster' && database !== 0) throw invalid('a Redis Cluster has only database 0');
  return {
    hosts: parsed.map(({ hostname, port }) => ({
      host: hostname.replace(/^\[|\]$/g, ''),
      port: port === '' ? DEFAULT_PORTS[mode] : Number(port),
    })),
    tls: first.protocol === 'rediss:',
    username: user.username ?? decodeUserInfo(first.username),
    password: user.password ?? decodeUserInfo(first.password),
    database,
  };
}

function parse(text: string, name: string): URL {
  // The message does not quote the text, because it may contain a password.
  if (!URL.canParse(text)) throw invalid(`${name} is not a valid URL; use the form redis://user:password@host:6379`);
  const url = new URL(text);
  if (url.protocol !== 'redis:' && url.protocol !== 'rediss:') {
    throw invalid(`${name} must start with redis:// or rediss://, got ${url.protocol}//`);
  }
  if (url.hostname === '') throw invalid(`${name} has no host`);
  return url;
}

function decodeUserInfo(part: string): string | undefined {
  return part === '' ? undefined : decodeURIComponent(part);
}

function invalid(message: string): RedisStoreError {
  return new RedisStoreError('OPTIONS', message);
}
