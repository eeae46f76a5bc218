import { RedisStoreError } from './redis-error.ts';

/** Which Redis, and who we are to it. */
export interface RedisOptions {
  /**
   * `redis://` or, with TLS, `rediss://`, host and port. One of a Redis that stands alone; some of a Cluster's nodes; all
   * sentinels. User and password may stand in it; a database (`/2`) not in a Cluster.
   */
  readonly urls: readonly string[];
  /** Default `standalone`. */
  readonly topology?: RedisTopology;
  /** The ACL user; those of the URL otherwise. */
  readonly username?: string;
  readonly password?: string;
  readonly tls?: RedisTls;
  /** First part of every key: fleets with different names share a Redis without seeing each other. */
  readonly fleet: string;
  /** How long a command waits, for a connection or for an answer, before it rejects. Default 10,000 ms. */
  readonly patienceMs?: number;
  /** Default 1,000. */
  readonly maxDeadLetters?: number;
}

export type RedisTopology =
  | { readonly mode: 'standalone' }
  | { readonly mode: 'cluster' }
  | {
      readonly mode: 'sentinel';
      /** What the sentinels call the master. */
      readonly masterName: string;
      readonly username?: string;
      readonly password?: string;
    };

/** In PEM. */
export interface RedisTls {
  /** Certificate authorities; those of the system by default. */
  readonly ca?: string;
  readonly cert?: string;
  readonly key?: string;
  /** The name that the server's certificate must have; the host of the URL by default. */
  readonly serverName?: string;
}

/** What the URLs say, together. */
export interface RedisAddresses {
  readonly hosts: readonly { readonly host: string; readonly port: number }[];
  readonly tls: boolean;
  readonly username: string | undefined;
  readonly password: string | undefined;
  readonly database: number;
}

const DEFAULT_PORTS = { sentinel: 26379, standalone: 6379, cluster: 6379 };

/** @throws RedisStoreError OPTIONS; no message has a password in it */
export function readAddresses({
  urls,
  topology = { mode: 'standalone' },
  fleet,
  ...user
}: RedisOptions): RedisAddresses {
  const { mode } = topology;
  if (!/^[\w.-]+$/.test(fleet)) {
    throw wrong(`the fleet's name has letters, digits, ".", "_" and "-": not ${JSON.stringify(fleet)}`);
  }
  const parsed = urls.map((text, index) => parse(text, `Redis URL ${index + 1}`));
  const [first] = parsed;
  if (first === undefined) throw wrong('no Redis URL');
  if (mode === 'standalone' && parsed.length > 1)
    throw wrong('several Redis URLs need the topology cluster or sentinel');
  if (parsed.some(({ protocol }) => protocol !== first.protocol)) {
    throw wrong('either all Redis URLs begin with rediss:// or none does');
  }
  const path = first.pathname.replace(/^\//, '');
  if (!/^\d{0,5}$/.test(path)) throw wrong(`a Redis URL ends with the number of a database, not with "/${path}"`);
  const database = Number(path);
  if (mode === 'cluster' && database !== 0) throw wrong('a Redis Cluster has no databases but 0');
  return {
    hosts: parsed.map(({ hostname, port }) => ({
      host: hostname.replace(/^\[|\]$/g, ''),
      port: port === '' ? DEFAULT_PORTS[mode] : Number(port),
    })),
    tls: first.protocol === 'rediss:',
    username: user.username ?? given(first.username),
    password: user.password ?? given(first.password),
    database,
  };
}

function parse(text: string, name: string): URL {
  // Not in the message as it is: it may have a password.
  if (!URL.canParse(text)) throw wrong(`${name} is no URL; it looks like redis://user:password@host:6379`);
  const url = new URL(text);
  if (url.protocol !== 'redis:' && url.protocol !== 'rediss:') {
    throw wrong(`${name} begins with redis:// or rediss://, not with ${url.protocol}//`);
  }
  if (url.hostname === '') throw wrong(`${name} has no host`);
  return url;
}

function given(part: string): string | undefined {
  return part === '' ? undefined : decodeURIComponent(part);
}

function wrong(message: string): RedisStoreError {
  return new RedisStoreError('OPTIONS', message);
}
