import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { RawObject } from '@sluice/kubernetes';
import { asRecord, asString } from '@sluice/platform';
import { hostOfHeader, isLoopback } from '@sluice/platform/process';
import { badRequest, pathNotFound } from '../server/status.ts';
import { sendError, sendJson, sendText } from './answer.ts';
import { discoveryDocument } from './discovery.ts';
import { readBody } from './read-body.ts';
import { ResourceHandler, type ResourceHandlerOptions } from './resource-handler.ts';
import { parseRoute } from './route.ts';

export interface ApiServerHttpOptions extends ResourceHandlerOptions {
  /** Refuse requests whose Host is not loopback: a page on the web could have resolved its own name to this address. */
  readonly loopbackOnly?: boolean;
}

const reads = ['get', 'list', 'watch'];

/** The status of an access review; undefined for another path. */
function accessReview(path: string, body: RawObject, isReadOnly: boolean): object | undefined {
  switch (path) {
    case '/apis/authorization.k8s.io/v1/selfsubjectaccessreviews': {
      const verb = asRecord(asRecord(body.spec).resourceAttributes).verb;
      return { allowed: !isReadOnly || reads.includes(asString(verb)) };
    }
    case '/apis/authorization.k8s.io/v1/selfsubjectrulesreviews': {
      const rule = { verbs: isReadOnly ? reads : ['*'], apiGroups: ['*'], resources: ['*'] };
      return { resourceRules: [rule], nonResourceRules: [], incomplete: false };
    }
  }
  return undefined;
}

/** Serves a FakeApiServer over plain HTTP/1.1, without authentication or authorization. */
export class ApiServerHttp {
  readonly #handler: ResourceHandler;
  readonly #http: Server;
  readonly #isReadOnly: boolean;
  readonly #loopbackOnly: boolean;

  constructor(options: ApiServerHttpOptions) {
    this.#isReadOnly = options.readOnly !== undefined;
    this.#loopbackOnly = options.loopbackOnly ?? false;
    this.#handler = new ResourceHandler(options);
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
    if (this.#loopbackOnly && !isLoopback(hostOfHeader(request.headers.host)))
      throw badRequest('the Host of the request is not loopback');
    const url = new URL(request.url ?? '/', 'http://server');
    const path = url.pathname.replace(/(?<=.)\/$/, '');
    if (path === '/readyz' || path === '/livez' || path === '/healthz') return sendText(response, 'ok');
    const document = discoveryDocument(path);
    if (document !== undefined) return sendJson(response, 200, document);
    const route = parseRoute(path);
    if (route === undefined) {
      if (request.method !== 'POST') throw pathNotFound();
      const body = await readBody(request);
      const status = accessReview(path, body, this.#isReadOnly);
      if (status === undefined) throw pathNotFound();
      return sendJson(response, 201, { ...body, status });
    }
    await this.#handler.handle(route, url.searchParams, request, response);
  }
}
