import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { Metrics } from '@sluice/telemetry';
import type { RootLogger } from '../system/logger.ts';
import { type BindAddress, formatBindAddress } from './bind-address.ts';
import { answerLogLevel, logLevelPath } from './log-level.ts';

export interface TelemetryServer {
  /** Where it listens, to be opened by people on this machine. */
  readonly url: string;
  close(): Promise<void>;
}

export interface TelemetryServerOptions {
  readonly metrics: Metrics;
  /** Whether all lists of all clusters are in. */
  readonly ready: () => boolean;
  /** Its level can be changed from this machine. Default: it cannot. */
  readonly log?: Pick<RootLogger, 'level'>;
  /** Answers what is asked for under other paths. */
  readonly otherwise?: (request: IncomingMessage, response: ServerResponse) => void;
}

/** Somebody else listens on the address. */
export class AddressInUseError extends Error {
  override readonly name = 'AddressInUseError';
}

/**
 * Serves `/metrics`, `/healthz`, `/livez`, `/readyz` and `/debug/log-level`. Throws AddressInUseError, or what else the system says where it
 * cannot listen.
 */
export async function serveTelemetry(at: BindAddress, options: TelemetryServerOptions): Promise<TelemetryServer> {
  const server = createServer((request, response) => void answer(request, response, options));
  await listen(server, at);
  const address = server.address();
  const port = address !== null && typeof address === 'object' ? address.port : at.port;
  const host = ['', '0.0.0.0', '::'].includes(at.host) ? 'localhost' : at.host;
  return {
    url: `http://${formatBindAddress({ host, port })}`,
    close: () =>
      new Promise((resolve) => {
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

const paths = new Set(['/metrics', '/healthz', '/livez', '/readyz', logLevelPath]);

async function answer(request: IncomingMessage, response: ServerResponse, options: TelemetryServerOptions) {
  const path = request.url?.split('?', 1)[0] ?? '';
  if (options.otherwise && !paths.has(path)) return options.otherwise(request, response);
  const text = (status: number, body: string, headers = {}) => {
    response.writeHead(status, { 'Content-Type': 'text/plain; charset=utf-8', ...headers });
    response.end(request.method === 'HEAD' ? undefined : body);
  };
  if (options.log !== undefined && path === logLevelPath) {
    const { status, body, headers } = await answerLogLevel(request, options.log);
    return text(status, body, headers);
  }
  if (request.method !== 'GET' && request.method !== 'HEAD') {
    return text(405, 'only GET and HEAD\n', { Allow: 'GET, HEAD' });
  }
  switch (path) {
    case '/metrics':
      try {
        return text(200, await options.metrics.text(), { 'Content-Type': options.metrics.contentType });
      } catch (error) {
        return text(500, `${error instanceof Error ? error.message : error}\n`);
      }
    case '/healthz':
    case '/livez':
      return text(200, 'ok');
    case '/readyz':
      return options.ready() ? text(200, 'ok') : text(503, 'not all lists of the cluster are in yet\n');
    default:
      return text(404, 'there is /metrics, /healthz, /livez, /readyz and /debug/log-level\n');
  }
}
