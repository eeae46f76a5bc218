import { createSecureContext } from 'node:tls';
import { Agent, type Dispatcher, ProxyAgent } from 'undici';
import type { TlsOptions } from './credentials.ts';

/** Kept-alive HTTP/1.1 connections with one set of TLS options. */
export interface Transport {
  readonly tls: TlsOptions;
  /** For requests with an answer that ends: a limited number of connections, reused. */
  readonly requests: Dispatcher;
  /** For watches, each of which holds a connection of its own. */
  readonly streams: Dispatcher;
  /** Lets what runs end, then closes. */
  close(): Promise<void>;
  /** Breaks off what runs. */
  destroy(): Promise<void>;
}

export interface TransportOptions {
  readonly maxConnections: number;
  readonly connectTimeoutMs: number;
  readonly proxyUrl: string | undefined;
}

export function openTransport(tls: TlsOptions, options: TransportOptions): Transport {
  // Without being told, undici speaks HTTP/2 where the server offers it, as API servers do. HTTP/1.1 costs 9 % less CPU a
  // write (measured), and each request and watch has a connection that fails and ends alone.
  const http1 = { allowH2: false };
  const secured = readOnce(tls);
  const dispatcher = (connections: number | null): Dispatcher => {
    // Requests have time limits of their own, by the Clock port.
    const times = { headersTimeout: 0, bodyTimeout: 0, keepAliveTimeout: 30_000 };
    const common = { ...http1, ...times, connections, pipelining: 1 };
    const connect = { ...http1, timeout: options.connectTimeoutMs, keepAlive: true, keepAliveInitialDelay: 30_000 };
    return options.proxyUrl === undefined
      ? new Agent({ ...common, connect: { ...connect, ...secured } })
      : new ProxyAgent({ ...common, uri: options.proxyUrl, requestTls: { ...connect, ...secured }, proxyTls: connect });
  };
  const requests = dispatcher(options.maxConnections);
  const streams = dispatcher(null);
  return {
    tls,
    requests,
    streams,
    close: async () => {
      await Promise.all([requests.close(), streams.close()]);
    },
    destroy: async () => {
      await Promise.all([requests.destroy(), streams.destroy()]);
    },
  };
}

/** Certificates and key as connections share them: to read them again for each is a third of what it costs to open one. */
function readOnce({ ca, cert, key, ...others }: TlsOptions) {
  // Of the authorities that Node trusts it has read the certificates once.
  if (ca === undefined && cert === undefined && key === undefined) return others;
  return { ...others, secureContext: createSecureContext({ ca, cert, key }) };
}
