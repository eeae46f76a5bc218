import { type Clock, exceededLimit, type Logger, messageLimits, type ThreadShare } from '@sluice/platform';
import type { ChunkQueue } from './chunk-queue.ts';
import { type BeforeSend, NotSentError } from './cluster.ts';
import { invalidAnswerError, isTlsFailure, readOnlyError } from './connection-error.ts';
import { type Credential, Credentials } from './credentials.ts';
import type { ClusterAccess } from './kubeconfig.ts';
import { decodeStatus, MalformedProtobufError, protobufMediaType, TextTable } from './protobuf/index.ts';
import { type Response, ResponseHandler, type ResponseHeaders } from './response-handler.ts';
import { errorFromResponse, type RequestedObject } from './status.ts';
import { TimeLimit } from './time-limit.ts';
import { certificateFingerprints, openTransport, type Transport } from './transport.ts';

export interface ConnectionOptions {
  readonly access: ClusterAccess;
  /** `sluice/<version>`; identifies the client in priority and fairness and in audit logs. */
  readonly userAgent: string;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Maximum number of connections for requests, without watches. Further requests wait. Default 64. */
  readonly maxConnections?: number;
  /** Timeout of a connection attempt. Default 10,000. */
  readonly connectTimeoutMs?: number;
  /** Default timeout of a request, from its start to the end of its response. Default 30,000. */
  readonly timeoutMs?: number;
  /** What reading lists and watches counts towards. Default: they may use all of the thread. */
  readonly threadShare?: Pick<ThreadShare, 'spend'> | undefined;
  /** Sends only GET; other requests fail before they are sent. Default false. */
  readonly readOnly?: boolean;
}

export interface ApiRequest {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** Path and query below the server's URL, starting with a slash. */
  readonly path: string;
  /** Sent as JSON. A Buffer is sent unchanged, with the content type of the headers. */
  readonly body?: unknown;
  /** Lower-case names. */
  readonly headers?: Readonly<Record<string, string>>;
  readonly signal: AbortSignal;
  readonly timeoutMs?: number;
  /** The object that the request reads or writes, so that its absence is recognized. */
  readonly object?: RequestedObject;
  /** Largest body of a response; the request fails beyond it. Default 8 MiB, above the largest object of etcd. */
  readonly maxResponseBytes?: number;
  readonly beforeSend?: BeforeSend | undefined;
}

export interface ApiResponse {
  readonly status: number;
  readonly headers: ResponseHeaders;
  /** The parsed JSON, or the bytes if the server has chosen protobuf; undefined if the body is empty. */
  readonly body: unknown;
}

export interface ApiStream {
  readonly status: number;
  readonly headers: ResponseHeaders;
  /** Ending the iteration closes the connection. */
  readonly chunks: AsyncIterable<Buffer>;
}

/** Sends requests to one API server. Every failure is an ApiError, or what `beforeSend` threw. */
export type ApiClient = Pick<Connection, 'server' | 'request' | 'stream'>;

/** Sends requests over the client's connections under another name. */
export function withUserAgent(client: ApiClient, userAgent: string): ApiClient {
  const named = <R extends ApiRequest>(request: R): R => {
    return { ...request, headers: { 'user-agent': userAgent, ...request.headers } };
  };
  return {
    server: client.server,
    request: (request) => client.request(named(request)),
    stream: (request) => client.stream(named(request)),
  };
}

/**
 * Sends requests to one API server over kept-alive connections. Every failure is an ApiError, with the API server's
 * message if there is one, or what `beforeSend` threw.
 */
export class Connection {
  /** The API server's URL, without credentials. */
  readonly server: string;
  readonly #options: ConnectionOptions;
  readonly #origin: string;
  readonly #prefix: string;
  readonly #credentials: Credentials;
  #transport: Transport | undefined;
  /** Accept no new requests, and close when those in flight have ended. */
  readonly #retired = new Set<Transport>();
  /** The transport of each request in flight. */
  readonly #carriers = new WeakMap<TimeLimit, Transport>();

  constructor(options: ConnectionOptions) {
    const url = new URL(options.access.server);
    this.#options = options;
    this.#origin = url.origin;
    this.#prefix = url.pathname.replace(/(?<!\/)\/+$/, '');
    this.server = this.#origin + this.#prefix;
    this.#credentials = new Credentials(options.access, options.clock, options.logger);
  }

  /** Sends a request and reads its response. `timeoutMs` includes the wait for a connection. */
  async request(request: ApiRequest): Promise<ApiResponse> {
    const limit = this.#limit(request, 'no complete response');
    try {
      const { maxResponseBytes = defaultResponseBytes } = request;
      const response = await this.#authorized(request, limit, maxResponseBytes);
      const { status, headers } = response;
      const parsed = status >= 300 ? parseErrorBody(response) : this.#parseBody(response, maxResponseBytes);
      return { status, headers, body: this.#checked(response, parsed, request.object) };
    } catch (error) {
      throw this.#failed(limit, error);
    } finally {
      limit.end();
    }
  }

  /**
   * Sends a request with an endless response. `timeoutMs` covers the time to its headers. After that, `idleMs` without
   * data while the response is read means a dead connection.
   */
  async stream(request: ApiRequest & { readonly idleMs: number }): Promise<ApiStream> {
    const limit = this.#limit(request, 'no response');
    try {
      const response = await this.#authorized(request, limit, 'chunks');
      if (!('chunks' in response)) throw this.#rejection(response, parseErrorBody(response));
      limit.pause();
      const { status, headers } = response;
      return { status, headers, chunks: this.#chunks(response.chunks, limit, request.idleMs) };
    } catch (error) {
      limit.end();
      throw this.#failed(limit, error);
    }
  }

  /** SHA-256 fingerprints of the configured certificate authorities; empty if there are none, or they are not verified. */
  async authorities(): Promise<readonly string[]> {
    const { ca, rejectUnauthorized } = (await this.#credentials.current()).tls;
    return ca === undefined || rejectUnauthorized === false ? [] : certificateFingerprints(ca);
  }

  /** Waits for requests in flight, then closes the connections. */
  async close(): Promise<void> {
    await Promise.all(this.#transports.map((transport) => transport.close()));
    this.#credentials.close();
  }

  /** Aborts requests in flight and closes the connections. */
  async destroy(): Promise<void> {
    await Promise.all(this.#transports.map((transport) => transport.destroy()));
    this.#credentials.close();
  }

  get #transports(): readonly Transport[] {
    return [...this.#retired, ...(this.#transport === undefined ? [] : [this.#transport])];
  }

  async #authorized(request: ApiRequest, limit: TimeLimit, body: number | 'chunks'): Promise<Response> {
    const current = this.#credentials.current();
    const credential = current instanceof Promise ? await current : current;
    const response = await this.#send(request, limit, body, credential).catch((error: unknown) =>
      this.#afterTlsFailure(error, request, limit, body, credential),
    );
    // A token of the caller's own tells nothing about these credentials.
    if (response.status !== 401 || request.headers?.authorization !== undefined) return response;
    const renewed = await this.#credentials.refresh(credential);
    return renewed === undefined ? response : this.#send(request, limit, body, renewed);
  }

  /** The certificate authority or the client certificate may have been rotated. The server has not seen the request. */
  async #afterTlsFailure(
    error: unknown,
    request: ApiRequest,
    limit: TimeLimit,
    body: number | 'chunks',
    credential: Credential,
  ): Promise<Response> {
    if (!isTlsFailure(error)) throw error;
    const renewed = await this.#credentials.refresh(credential);
    if (renewed === undefined || renewed.tls === credential.tls) throw error;
    return this.#send(request, limit, body, renewed);
  }

  async #send(
    request: ApiRequest,
    limit: TimeLimit,
    body: number | 'chunks',
    credential: Credential,
  ): Promise<Response> {
    if (this.#options.readOnly && request.method !== 'GET') throw readOnlyError(this.server, request.method);
    const headers: Record<string, string> = {
      accept: 'application/json',
      'user-agent': this.#options.userAgent,
      ...credential.headers,
      ...request.headers,
    };
    const hasBody = request.body !== undefined;
    if (hasBody) headers['content-type'] ??= 'application/json';
    const transport = this.#transportFor(credential);
    if (limit.isAborted) throw new Error('aborted before the request was sent');
    this.#carriers.set(limit, transport);
    const handler = new ResponseHandler({ beforeSend: request.beforeSend, body });
    limit.onAbort = () => handler.abort();
    const sent = {
      origin: this.#origin,
      path: this.#prefix + request.path,
      method: request.method,
      headers,
      body: encodeBody(request.body),
    };
    (body === 'chunks' ? transport.streams : transport.requests).dispatch(sent, handler);
    return handler.response;
  }

  /** A renewed client certificate or CA needs new connections; old ones close after their requests have ended. */
  #transportFor({ tls }: Credential): Transport {
    if (this.#transport?.tls === tls) return this.#transport;
    this.#retire(this.#transport);
    const transport = openTransport(tls, {
      maxConnections: this.#options.maxConnections ?? 64,
      connectTimeoutMs: this.#options.connectTimeoutMs ?? 10_000,
      proxyUrl: this.#options.access.proxyUrl,
      clock: this.#options.clock,
    });
    this.#transport = transport;
    return transport;
  }

  /**
   * A timeout suggests that the network dropped the connection silently, which affects idle connections too. They are
   * replaced, because further requests on them would time out as well.
   */
  #failed(limit: TimeLimit, error: unknown): unknown {
    if (error instanceof NotSentError) return error.cause;
    if (limit.hasExpired) this.#retire(this.#carriers.get(limit));
    return limit.explain(error);
  }

  #retire(transport: Transport | undefined): void {
    if (transport === undefined || this.#retired.has(transport)) return;
    if (this.#transport === transport) this.#transport = undefined;
    this.#retired.add(transport);
    transport
      .close()
      .catch((error: unknown) => this.#options.logger.debug('cannot close replaced connections', { error }))
      .finally(() => this.#retired.delete(transport));
  }

  #parseBody(response: Response, maxBytes: number): Parsed {
    const bytes = bytesOf(response);
    if (bytes === undefined) throw invalidAnswerError(this.server, `the response is larger than ${maxBytes} bytes`);
    if (isProtobuf(response)) return { ok: true, value: bytes };
    const parsed = parse(bytes.toString('utf8'));
    const exceeded = parsed.ok ? exceededLimit(parsed.value, messageLimits) : undefined;
    if (exceeded !== undefined) throw invalidAnswerError(this.server, `the response is ${exceeded}`);
    return parsed;
  }

  #checked(response: Response, body: Parsed, requested?: RequestedObject): unknown {
    if (response.status >= 300) throw this.#rejection(response, body, requested);
    if (!body.ok) throw invalidAnswerError(this.server, 'not JSON; check that this is an API server');
    return body.value;
  }

  #rejection({ status, headers }: Response, body: Parsed, requested?: RequestedObject): Error {
    const retryAfter = typeof headers['retry-after'] === 'string' ? headers['retry-after'] : undefined;
    const given = body.ok ? body.value : undefined;
    return errorFromResponse({ status, retryAfter, now: this.#options.clock.now() }, given, requested);
  }

  async *#chunks(body: ChunkQueue, limit: TimeLimit, idleMs: number): AsyncIterable<Buffer> {
    const { clock, threadShare } = this.#options;
    try {
      for (;;) {
        limit.restart(idleMs, 'no further data');
        const next = await body.next();
        limit.pause();
        if (next.done === true) return;
        const receivedAt = clock.monotonic();
        yield next.value;
        const turn = threadShare?.spend(clock.monotonic() - receivedAt);
        if (turn !== undefined) await turn;
      }
    } catch (error) {
      throw this.#failed(limit, error);
    } finally {
      limit.end();
      await body.return();
    }
  }

  #limit(request: ApiRequest, what: string): TimeLimit {
    const timeoutMs = request.timeoutMs ?? this.#options.timeoutMs ?? 30_000;
    return new TimeLimit(this.#options.clock, this.server, request.signal, timeoutMs, what);
  }
}

function encodeBody(body: unknown): string | Buffer | null {
  if (body === undefined) return null;
  return Buffer.isBuffer(body) ? body : JSON.stringify(body);
}

const defaultResponseBytes = 8 * 1024 * 1024;

/** A request for protobuf may be rejected with a Status in protobuf. */
function parseErrorBody(response: Response): Parsed {
  const bytes = bytesOf(response);
  if (bytes === undefined) return { ok: false };
  if (!isProtobuf(response)) return parse(bytes.toString('utf8'));
  try {
    return { ok: true, value: decodeStatus(bytes, new TextTable()) };
  } catch (error) {
    if (error instanceof MalformedProtobufError) return { ok: false };
    throw error;
  }
}

const bytesOf = (response: Response): Buffer | undefined => ('bytes' in response ? response.bytes : undefined);

/** The media type may have parameters, which name what the object is converted to. */
function isProtobuf({ headers }: Response): boolean {
  return `${headers['content-type']}`.startsWith(protobufMediaType);
}

type Parsed = { readonly ok: true; readonly value: unknown } | { readonly ok: false };

function parse(text: string): Parsed {
  if (text === '') return { ok: true, value: undefined };
  try {
    return { ok: true, value: JSON.parse(text) };
  } catch {
    return { ok: false };
  }
}
