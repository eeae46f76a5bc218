import { X509Certificate } from 'node:crypto';
import { createSecureContext } from 'node:tls';
import type { Clock } from '@sluice/platform';
import { Agent, buildConnector, type Dispatcher, ProxyAgent } from 'undici';
import type { TlsOptions } from './credentials.ts';

/** Kept-alive HTTP/1.1 connections with one set of TLS options. */
export interface Transport {
  readonly tls: TlsOptions;
  /** For requests with a finite response: a limited number of reused connections. */
  readonly requests: Dispatcher;
  /** For watches, which need a connection each. */
  readonly streams: Dispatcher;
  /** Waits for requests in flight, then closes. */
  close(): Promise<void>;
  /** Aborts requests in flight and closes. */
  destroy(): Promise<void>;
}

interface TransportOptions {
  readonly maxConnections: number;
  readonly connectTimeoutMs: number;
  readonly proxyUrl: string | undefined;
  readonly clock: Clock;
}

export function openTransport(tls: TlsOptions, options: TransportOptions): Transport {
  // By default undici uses HTTP/2 if the server offers it, as API servers do. HTTP/1.1 costs 9 % less CPU per write
  // (measured), and connections of requests and watches fail independently.
  const http1 = { allowH2: false };
  const secured = withSecureContext(tls);
  const connect = { ...http1, timeout: options.connectTimeoutMs, keepAlive: true, keepAliveInitialDelay: 30_000 };
  // Shared by requests and watches, so that all connections resume the session of the first one.
  const connector = resumeSessions(buildConnector({ ...connect, ...secured }), options.clock);
  const dispatcher = (connections: number | null): Dispatcher => {
    // TimeLimit enforces timeouts, by the Clock port.
    const times = { headersTimeout: 0, bodyTimeout: 0, keepAliveTimeout: 30_000 };
    const common = { ...http1, ...times, connections, pipelining: 1 };
    return options.proxyUrl === undefined
      ? new Agent({ ...common, connect: connector })
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

/** Shares the parsed certificates and key among connections: parsing them takes a third of the time to open one. */
function withSecureContext({ ca, cert, key, ...others }: TlsOptions) {
  // Node caches its default authorities.
  if (ca === undefined && cert === undefined && key === undefined) return others;
  return { ...others, secureContext: createSecureContext({ ca, cert, key }) };
}

type Connector = buildConnector.connector;

/** Longest wait for the session after the first handshake, in milliseconds. Servers send it right away, or never. */
const ticketMs = 20;
/** Longest wait for the first connection, in milliseconds. A server that does not answer must not delay the others further. */
const firstMs = 500;

/**
 * Has all TLS connections wait for the session of the first one, which undici's connector then resumes. At a start a dozen
 * connections are opened at once; resuming spares both sides the certificates, most of the cost of a handshake.
 */
export function resumeSessions(connect: Connector, clock: Clock): Connector {
  let first: 'none' | 'open' | Promise<void> = 'none';
  return (options, callback) => {
    if (options.protocol !== 'https:' || first === 'open') return connect(options, callback);
    if (first !== 'none') return void first.then(() => connect(options, callback));
    const { promise, resolve } = Promise.withResolvers<void>();
    const cancels = [clock.schedule(firstMs, resolve)];
    first = promise.then(() => {
      first = 'open';
      for (const cancel of cancels) cancel();
    });
    connect(options, (...outcome) => {
      const [error, socket] = outcome;
      if (error === null) {
        socket.once('session', () => resolve());
        socket.once('close', () => resolve());
        cancels.push(clock.schedule(ticketMs, resolve));
      } else resolve();
      callback(...outcome);
    });
  };
}

/** SHA-256 fingerprints of the certificates in a PEM bundle, sorted, each once. */
export function certificateFingerprints(pem: string | Buffer): readonly string[] {
  const blocks = `${pem}`.match(/-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g) ?? [];
  return [...new Set(blocks.map((block) => new X509Certificate(block).fingerprint256))].sort();
}
