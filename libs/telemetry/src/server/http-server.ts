import {
  createServer,
  type IncomingHttpHeaders,
  type IncomingMessage,
  type Server,
  type ServerResponse,
} from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import { type Clock, errorMessage } from '@sluice/platform';
import {
  type BindAddress,
  formatBindAddress,
  hostOfHeader,
  isLoopback,
  printable,
  type RootLogger,
} from '@sluice/platform/process';
import type { Metrics } from '../metrics.ts';
import { CachedExposition } from './cached-exposition.ts';
import { monitorEventLoop } from './event-loop-monitor.ts';
import { answerHealth, type Health, type HealthAnswer } from './health.ts';
import { limitConnections } from './limit-connections.ts';
import { answerLogLevel, logLevelPath } from './log-level.ts';

export interface TelemetryServer {
  /** URL of the server, with a host that this machine can open. */
  readonly url: string;
  /** Uses another certificate for new connections. Only for a server with TLS. */
  setTls(tls: ServingTls): void;
  close(): Promise<void>;
}

/** In PEM. */
interface ServingTls {
  readonly cert: string;
  readonly key: string;
}

export interface TelemetryServerOptions {
  readonly metrics: Metrics;
  readonly health: Health;
  readonly clock: Clock;
  /** Logger whose level `/debug/log-level` changes. Default: none. */
  readonly log?: Pick<RootLogger, 'level'>;
  /** Handles all other paths. */
  readonly otherwise?: (request: IncomingMessage, response: ServerResponse) => void;
  /** Default: HTTP without TLS. */
  readonly tls?: ServingTls | undefined;
}

/** Another process listens on the address. */
class AddressInUseError extends Error {
  override readonly name = 'AddressInUseError';
}

/**
 * Serves `/metrics`, `/healthz`, `/livez`, `/readyz` and `/debug/log-level`.
 *
 * @throws AddressInUseError, or another error of the system if it cannot listen
 */
export async function serveTelemetry(at: BindAddress, options: TelemetryServerOptions): Promise<TelemetryServer> {
  const eventLoop = monitorEventLoop(options.clock);
  const health: Health = {
    livez: () => [eventLoop.check, ...options.health.livez()],
    readyz: () => options.health.readyz(),
  };
  const served = { ...options, metrics: new CachedExposition(options.metrics, options.clock), health, at };
  const listener = (request: IncomingMessage, response: ServerResponse) => void answer(request, response, served);
  const server = options.tls === undefined ? createServer(listener) : createTlsServer(options.tls, listener);
  limitConnections(server);
  try {
    await listen(server, at);
  } catch (error) {
    eventLoop.close();
    throw error;
  }
  const address = server.address();
  const port = address !== null && typeof address === 'object' ? address.port : at.port;
  const host = ['', '0.0.0.0', '::'].includes(at.host) ? 'localhost' : at.host;
  return {
    url: `${options.tls === undefined ? 'http' : 'https'}://${formatBindAddress({ host, port })}`,
    setTls: (tls) => {
      if ('setSecureContext' in server) server.setSecureContext(tls);
    },
    close: () =>
      new Promise((resolve) => {
        eventLoop.close();
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

function listen(server: Server, at: BindAddress): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) => {
      const taken = error.code === 'EADDRINUSE';
      reject(taken ? new AddressInUseError(`${formatBindAddress(at)} is in use`, { cause: error }) : error);
    });
    server.listen({ port: at.port, ...(at.host !== '' && { host: at.host }) }, resolve);
  });
}

const isOwn = (path: string): boolean =>
  path === '/metrics' || path === logLevelPath || /^\/(livez|readyz|healthz)(\/|$)/.test(path);

/** `/healthz` is the deprecated name of `/livez`. Returns undefined for other paths. */
async function healthAt(path: string, query: string, health: Health): Promise<HealthAnswer | undefined> {
  const [, name, single] = /^\/(livez|readyz|healthz)(?:\/(.+))?$/.exec(path) ?? [];
  if (name !== 'livez' && name !== 'readyz' && name !== 'healthz') return undefined;
  const checks = name === 'readyz' ? health.readyz() : health.livez();
  return answerHealth(name, single, new URLSearchParams(query), checks);
}

/** No other page may embed an answer, load anything for it or read it. */
const securityHeaders = {
  'Content-Security-Policy': "default-src 'none'; frame-ancestors 'none'",
  'Cross-Origin-Resource-Policy': 'same-origin',
  'Referrer-Policy': 'no-referrer',
  'X-Content-Type-Options': 'nosniff',
};

async function answer(
  request: IncomingMessage,
  response: ServerResponse,
  options: Omit<TelemetryServerOptions, 'metrics'> & { readonly metrics: CachedExposition; readonly at: BindAddress },
) {
  const [path = '', query = ''] = (request.url ?? '').split('?');
  if (options.otherwise && !isOwn(path)) return options.otherwise(request, response);
  const text = (status: number, body: string | Buffer, headers = {}) => {
    response.writeHead(status, {
      'Content-Type': 'text/plain; charset=utf-8',
      ...securityHeaders,
      ...headers,
    });
    response.end(request.method === 'HEAD' ? undefined : body);
  };
  if (isFromBrowserPage(request.headers, options.at)) {
    return text(403, 'not accessible to web pages, or under this host name\n');
  }
  if (options.log !== undefined && path === logLevelPath) {
    const { status, body, headers } = await answerLogLevel(request, options.log);
    return text(status, body, headers);
  }
  if (request.method !== 'GET' && request.method !== 'HEAD') {
    return text(405, 'method not allowed; use GET or HEAD\n', { Allow: 'GET, HEAD' });
  }
  switch (path) {
    case '/metrics':
      try {
        const { contentType, body } = await options.metrics.expose(request.headers.accept);
        return text(200, body, { 'Content-Type': contentType });
      } catch (error) {
        return text(500, `${errorMessage(error)}\n`);
      }
    default: {
      const health = await healthAt(path, query, options.health);
      if (health !== undefined) return text(health.status, printable(health.body));
      return text(404, 'not found; available: /metrics, /healthz, /livez, /readyz, /debug/log-level\n');
    }
  }
}

/**
 * Whether a web page of another origin may have made the request: browsers say so in `Sec-Fetch-Site`, and a server on
 * loopback is never asked for by another name, except by a page that rebinds its own name to it (DNS rebinding). A server on
 * other interfaces is known by names that it cannot list, such as that of its Service.
 */
export function isFromBrowserPage(headers: IncomingHttpHeaders, { host: boundTo }: Pick<BindAddress, 'host'>): boolean {
  const site = headers['sec-fetch-site'];
  const isForeign = site === 'cross-site' || site === 'same-site';
  if (isForeign && headers['sec-fetch-mode'] !== 'navigate') return true;
  return isLoopback(boundTo) && !isLoopback(hostOfHeader(headers.host));
}
