import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Clock } from '@sluice/platform';
import { FaultPlan } from '../faults/fault-plan.ts';
import type { FakeApiServer } from '../server/server.ts';
import { pathNotFound } from '../server/status.ts';
import { sendError, sendJson, sendText } from './answer.ts';
import { discoveryDocument } from './discovery.ts';
import { readBody } from './read-body.ts';
import { ResourceHandler } from './resource-handler.ts';
import { parseRoute } from './route.ts';

export interface ApiServerHttpOptions {
  readonly server: FakeApiServer;
  readonly clock: Clock;
  /** Faults for requests over HTTP. */
  readonly faults?: FaultPlan;
}

const everything = { verbs: ['*'], apiGroups: ['*'], resources: ['*'] };
/** Responses to the access reviews: every request is allowed. */
const reviews: ReadonlyMap<string, object> = new Map([
  ['/apis/authorization.k8s.io/v1/selfsubjectaccessreviews', { allowed: true }],
  [
    '/apis/authorization.k8s.io/v1/selfsubjectrulesreviews',
    { resourceRules: [everything], nonResourceRules: [], incomplete: false },
  ],
]);

/** Serves a FakeApiServer over plain HTTP/1.1, without authentication or authorization. */
export class ApiServerHttp {
  readonly #handler: ResourceHandler;
  readonly #http: Server;

  constructor(options: ApiServerHttpOptions) {
    this.#handler = new ResourceHandler(options.server, options.clock, options.faults ?? new FaultPlan());
    this.#http = createServer((request, response) => {
      this.#answer(request, response).catch((error: unknown) => sendError(response, error));
    });
  }

  /** Resolves to the base URL, e.g. `http://127.0.0.1:41234`. Port 0 selects a free port. */
  async listen(port = 0, host = '127.0.0.1'): Promise<string> {
    await new Promise<void>((resolve, reject) => {
      this.#http.once('error', reject);
      this.#http.listen(port, host, resolve);
    });
    const address = this.#http.address() as AddressInfo;
    const shownHost = address.family === 'IPv6' ? `[${address.address}]` : address.address;
    return `http://${shownHost}:${address.port}`;
  }

  /** Closes the server and all connections. */
  async close(): Promise<void> {
    const closed = new Promise((resolve) => this.#http.close(resolve));
    this.#http.closeAllConnections();
    await closed;
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const url = new URL(request.url ?? '/', 'http://server');
    const path = url.pathname.replace(/(?<=.)\/$/, '');
    if (path === '/readyz' || path === '/livez' || path === '/healthz') return sendText(response, 'ok');
    const document = discoveryDocument(path);
    if (document !== undefined) return sendJson(response, 200, document);
    const granted = request.method === 'POST' ? reviews.get(path) : undefined;
    if (granted !== undefined) return sendJson(response, 201, { ...(await readBody(request)), status: granted });
    const route = parseRoute(path);
    if (route === undefined) throw pathNotFound();
    await this.#handler.handle(route, url.searchParams, request, response);
  }
}
