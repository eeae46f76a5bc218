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

type RedisTopology =
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
interface RedisTls {
  /** Certificate authorities. Default: those of the system. */
  readonly ca?: string;
  readonly cert?: string;
  readonly key?: string;
  /** Name expected in the server's certificate. Default: the host of the URL. */
  readonly serverName?: string;
}

/** The settings parsed from all URLs. */
interface RedisAddresses {
  readonly hosts: readonly { readonly host: string; readonly port: number }[];
  readonly tls: boolean;
  readonly username: string | undefined;
  readonly password: string | undefined;
  readonly database: number;
}

const DEFAULT_PORTS = { sentinel: 26379, standalone: 6379, cluster: 6379 };

/** The configuration has checked the addresses. */
export function readAddresses({ urls, topology = { mode: 'standalone' }, ...user }: RedisOptions): RedisAddresses {
  const parsed = urls.map((url) => new URL(url));
  const [first = new URL('redis:')] = parsed;
  return {
    hosts: parsed.map(({ hostname, port }) => ({
      host: hostname.replace(/^\[|\]$/g, ''),
      port: port === '' ? DEFAULT_PORTS[topology.mode] : Number(port),
    })),
    tls: first.protocol === 'rediss:',
    username: user.username ?? decodeUserInfo(first.username),
    password: user.password ?? decodeUserInfo(first.password),
    database: Number(first.pathname.slice(1)),
  };
}

function decodeUserInfo(part: string): string | undefined {
  return part === '' ? undefined : decodeURIComponent(part);
}
