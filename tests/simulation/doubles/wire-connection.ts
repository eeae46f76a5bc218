import type { StoredObject } from '@sluice/fake-apiserver';
import {
  type ApiClient,
  type ApiRequest,
  type ApiResponse,
  type ApiStream,
  type ClusterReader,
  type ClusterWriter,
  HttpCluster,
  type RawObject,
  type Resource,
  type WatchEvent,
  type WrittenMeta,
} from '@sluice/kubernetes';
import { encodeObject, openEnvelope, protobufMediaType, TextTable } from '@sluice/kubernetes/protobuf';
import { decodeWritten, encodedBookmark, encodedWatchEvent, framed } from '@sluice/kubernetes/protobuf/testing';
import type { EndpointSlice, Endpoints, WrittenResource } from '@sluice/model';
import { asRecord, asString, type Clock, type Random, randomInteger } from '@sluice/platform';

export interface WireOptions {
  /** What the API server does with a request. */
  readonly reader: ClusterReader;
  readonly writer?: ClusterWriter;
  readonly clock: Clock;
  readonly random: Random;
  /** Whether the server speaks protobuf for the objects that Sluice writes. Otherwise JSON only. */
  readonly protobuf: boolean;
}

/** The client of production over HTTP, whose requests and responses have the form that they have on the wire. */
export function wireCluster(options: WireOptions): HttpCluster {
  const { clock, random } = options;
  return new HttpCluster({ connection: new WireConnection(options), clock, random });
}

const isWritten = (resource: string): resource is WrittenResource =>
  resource === 'endpoints' || resource === 'endpointslices';

/** A connection to an API server in this process. Its bytes arrive in pieces of any length. */
class WireConnection implements ApiClient {
  readonly server = 'https://cluster.example.org';
  readonly #options: WireOptions;

  constructor(options: WireOptions) {
    this.#options = options;
  }

  async request(request: ApiRequest): Promise<ApiResponse> {
    request.beforeSend?.();
    const { reader } = this.#options;
    const { resource, namespace, name } = routeOf(request.path);
    if (resource === 'namespaces') return json(200, { metadata: { name, uid: await reader.identity(request.signal) } });
    return this.#act(request, resource as Resource, namespace, name);
  }

  async stream({ path, signal, headers }: ApiRequest): Promise<ApiStream> {
    const { reader, protobuf } = this.#options;
    const { query, resource: named } = routeOf(path);
    const resource = named as Resource;
    if (query.get('watch') !== '1') {
      const options = { limit: Number(query.get('limit')), continueToken: query.get('continue') ?? '' };
      const { items, resourceVersion, continueToken } = await reader.list(resource, options, signal);
      const metadata = { resourceVersion, ...(continueToken !== '' && { continue: continueToken }) };
      const text = JSON.stringify({ kind: 'List', apiVersion: 'v1', metadata, items });
      return { status: 200, headers: {}, chunks: this.#pieces([Buffer.from(text)]) };
    }
    const sendInitialEvents = query.get('sendInitialEvents') === 'true';
    const events = reader.watch(resource, query.get('resourceVersion') ?? '', signal, { sendInitialEvents });
    const opened = events[Symbol.asyncIterator]();
    // The first batch says that the server has accepted the watch.
    const first = await opened.next();
    const isProtobuf = protobuf && isWritten(resource) && asString(headers?.accept).includes(protobufMediaType);
    const encode = isProtobuf ? frameOf : lineOf;
    const bytes = async function* (): AsyncIterable<Buffer> {
      try {
        for (let next = first; next.done !== true; next = await opened.next())
          if (next.value.length > 0) yield Buffer.concat(next.value.map((event) => encode(resource, event)));
      } finally {
        await opened.return?.();
      }
    };
    const type = isProtobuf ? protobufMediaType : 'application/json';
    return { status: 200, headers: { 'content-type': type }, chunks: this.#pieces(bytes()) };
  }

  async #act(request: ApiRequest, resource: Resource, namespace: string, name: string): Promise<ApiResponse> {
    const { writer } = this.#options;
    const { method, signal } = request;
    if (writer === undefined) throw new TypeError('this connection only reads');
    if (method === 'GET') return json(200, await writer.get(resource, namespace, name, signal));
    if (!isWritten(resource)) throw new TypeError(`nobody writes ${resource}`);
    if (method === 'DELETE') {
      const preconditions = asRecord(asRecord(request.body).preconditions);
      const left = await writer.delete(resource, namespace, name, preconditions, signal);
      return json(200, left ?? { kind: 'Status', status: 'Success' });
    }
    const object = written(request.body);
    const meta = await (method === 'POST' ? writer.create : writer.update).call(writer, resource, object, signal);
    return this.#stored(request, resource, namespace, meta);
  }

  #stored({ headers }: ApiRequest, resource: WrittenResource, namespace: string, meta: WrittenMeta): ApiResponse {
    const { name, uid, resourceVersion, generation, creationTimestamp } = meta;
    const metadata = { name, namespace, uid, resourceVersion, generation, creationTimestamp };
    const bytes = this.#options.protobuf && asString(headers?.accept).startsWith(protobufMediaType);
    return json(200, bytes ? encodeObject(resource, { metadata }) : { metadata });
  }

  async *#pieces(whole: AsyncIterable<Buffer> | Iterable<Buffer>): AsyncIterable<Buffer> {
    const { random } = this.#options;
    for await (const bytes of whole) {
      const at = random.next() < 0.3 ? randomInteger(random, 1, Math.max(1, bytes.length - 1)) : bytes.length;
      yield bytes.subarray(0, at);
      if (at < bytes.length) yield bytes.subarray(at);
    }
  }
}

const json = (status: number, body: unknown): ApiResponse => ({ status, headers: {}, body });

/** The object in the body of a write, as a server reads it. */
function written(body: unknown): Endpoints | EndpointSlice {
  const read: unknown = Buffer.isBuffer(body) ? decodeWritten(body) : JSON.parse(JSON.stringify(body));
  const { apiVersion: _apiVersion, kind: _kind, ...object } = asRecord(read);
  return object as unknown as Endpoints | EndpointSlice;
}

interface Route {
  readonly resource: string;
  readonly namespace: string;
  readonly name: string;
  readonly query: URLSearchParams;
}

function routeOf(path: string): Route {
  const { pathname, searchParams: query } = new URL(path, 'https://cluster.example.org');
  const parts = pathname.split('/').slice(1).map(decodeURIComponent);
  const rest = parts[0] === 'api' ? parts.slice(2) : parts.slice(3);
  const [first = '', second = '', third, name = ''] = rest;
  if (first === 'namespaces' && third !== undefined) return { resource: third, namespace: second, name, query };
  return { resource: first, namespace: '', name: second, query };
}

function lineOf(_: Resource, event: WatchEvent): Buffer {
  const shown = event.type === 'BOOKMARK' ? { type: event.type, object: { metadata: bookmark(event) } } : event;
  return Buffer.from(`${JSON.stringify(shown)}\n`);
}

function frameOf(resource: Resource, event: WatchEvent): Buffer {
  if (event.type === 'BOOKMARK') return framed(encodedWatchEvent(event.type, encodedBookmark(bookmark(event))));
  return framed(encodedWatchEvent(event.type, rawOf(resource, event.object)));
}

function bookmark({ resourceVersion, initialEventsEnd }: Extract<WatchEvent, { type: 'BOOKMARK' }>) {
  return { resourceVersion, ...(initialEventsEnd && { annotations: { 'k8s.io/initial-events-end': 'true' } }) };
}

/** An object that protobuf cannot hold is sent without the parts that it cannot: they have a wrong type. */
function rawOf(resource: Resource, object: RawObject): Buffer {
  const enveloped = encodeObject(resource as WrittenResource, object as StoredObject);
  if (enveloped === undefined) return Buffer.from([0xff]);
  return openEnvelope(enveloped, new TextTable());
}
