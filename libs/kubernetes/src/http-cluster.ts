import type { Controller, EndpointSlice, Endpoints, WrittenResource } from '@sluice/model';
import { asRecord, asString, type Clock, type Random, randomInteger } from '@sluice/platform';
import { ApiError, isOutage } from './api-error.ts';
import {
  type BeforeSend,
  type ClusterReader,
  type ClusterWriter,
  heldBack,
  type ListOptions,
  type ListPage,
  type RawObject,
  type Resource,
  type WatchEvent,
  type WatchOptions,
  type WrittenMeta,
} from './cluster.ts';
import type { ApiClient, ApiRequest, ApiStream } from './connection.ts';
import { invalidAnswerError } from './connection-error.ts';
import type { EventObject } from './event-object.ts';
import type { EventStore } from './event-recorder.ts';
import { MalformedListError } from './list-splitter.ts';
import { once } from './middleware.ts';
import {
  decodeStoredMetadata,
  encodeObject,
  MalformedProtobufError,
  protobufMediaType,
  TextTable,
} from './protobuf/index.ts';
import { readList } from './read-list.ts';
import { requestedObject } from './requested-object.ts';
import { apiVersion, collectionPath, objectPath, resourceInfo } from './resources.ts';
import { eventsOfFrames, eventsOfLines } from './watch-events.ts';

export interface HttpClusterOptions {
  readonly connection: ApiClient;
  /** Sends the writes and Events of a controller. Default: `connection`. */
  readonly controllerConnection?: (controller: Controller) => ApiClient;
  /** Lists and watches only this namespace, for which a Role suffices. Default: all. */
  readonly namespace?: string | undefined;
  readonly clock: Clock;
  readonly random: Random;
  /** A watch without data for this long is considered dead; bookmarks arrive every minute. Default 150,000. */
  readonly watchIdleMs?: number;
  /** A list without data for this long has failed. Default 60,000. */
  readonly listTimeoutMs?: number;
}

const pingTimeoutMs = 3_000;

/** Requested for responses to writes, of which only the metadata is used. Older servers return the whole object. */
const partial = 'as=PartialObjectMetadata;g=meta.k8s.io;v=v1';
const metadataOnly = `application/json;${partial},application/json`;

/** Cheaper than parsing JSON, mostly because `managedFields` are skipped. Errors, and a fake API server, answer in JSON. */
const preferProtobufMetadata = `${protobufMediaType};${partial},${metadataOnly}`;

/** Requested for watches: a third of the bytes, and cheaper for the server. A fake API server supports only JSON. */
const preferProtobuf = `${protobufMediaType},application/json`;

/** A cluster over HTTP. Every failure is an ApiError. */
export class HttpCluster implements ClusterReader, ClusterWriter, EventStore {
  readonly watchList = true;
  readonly connection: ApiClient;
  readonly forController: (controller: Controller) => HttpCluster;
  readonly #options: HttpClusterOptions;
  readonly #texts: TextTable;
  /** Resources with fields that the protobuf codec does not know. */
  readonly #readAsJson = new Set<Resource>();
  #writeAccept = preferProtobufMetadata;
  #writesProtobuf = true;

  constructor(options: HttpClusterOptions, texts = new TextTable()) {
    this.connection = options.connection;
    this.#options = options;
    this.#texts = texts;
    const { controllerConnection, ...own } = options;
    this.forController = once((controller) =>
      controllerConnection === undefined
        ? this
        : new HttpCluster({ ...own, connection: controllerConnection(controller) }, texts),
    );
  }

  readonly ping = async (signal: AbortSignal): Promise<void> => {
    try {
      await this.connection.request({ method: 'GET', path: '/version', timeoutMs: pingTimeoutMs, signal });
    } catch (error) {
      if (!(error instanceof ApiError) || isOutage(error)) throw error;
    }
  };

  async identity(signal: AbortSignal): Promise<string> {
    const { body } = await this.connection.request({ method: 'GET', path: '/api/v1/namespaces/kube-system', signal });
    const wanted = { kind: 'Namespace', namespace: '', name: 'kube-system' };
    const uid = asString(asRecord(requestedObject(this.connection.server, body, wanted).metadata).uid);
    if (uid === '') throw invalidAnswerError(this.connection.server, 'the namespace kube-system has no uid');
    // It becomes part of keys and messages.
    if (!/^[\w.:-]{1,128}$/.test(uid)) {
      throw invalidAnswerError(
        this.connection.server,
        'the uid of the namespace kube-system contains other characters',
      );
    }
    return uid;
  }

  async list(resource: Resource, options: ListOptions, signal: AbortSignal): Promise<ListPage> {
    // Without resourceVersion the first page is a quorum read, never a stale cache.
    const query = new URLSearchParams({ limit: String(options.limit) });
    if (options.continueToken !== '') query.set('continue', options.continueToken);
    const path = `${this.#collection(resource)}?${query}`;
    const idleMs = this.#options.listTimeoutMs ?? 60_000;
    const { chunks } = await this.#read(resource, { method: 'GET', path, signal, timeoutMs: idleMs, idleMs });
    const items: RawObject[] = [];
    const { onItem = (object) => void items.push(object) } = options;
    try {
      return { items, ...(await readList(chunks, resourceInfo[resource].kind, onItem)) };
    } catch (error) {
      if (error instanceof MalformedListError) {
        throw invalidAnswerError(this.connection.server, `not a list of ${resource}: ${error.message}`);
      }
      throw error;
    }
  }

  async *watch(
    resource: Resource,
    resourceVersion: string,
    signal: AbortSignal,
    options: WatchOptions = {},
  ): AsyncIterable<readonly WatchEvent[]> {
    // Randomized, so that watches that started together do not end together.
    const timeoutSeconds = randomInteger(this.#options.random, 300, 600);
    const query = new URLSearchParams({ watch: '1', allowWatchBookmarks: 'true', timeoutSeconds: `${timeoutSeconds}` });
    if (resourceVersion !== '') query.set('resourceVersion', resourceVersion);
    if (options.sendInitialEvents) {
      query.set('sendInitialEvents', 'true');
      query.set('resourceVersionMatch', 'NotOlderThan');
    }
    try {
      const path = `${this.#collection(resource)}?${query}`;
      const idleMs = this.#options.watchIdleMs ?? 150_000;
      const headers = { accept: this.#readAsJson.has(resource) ? 'application/json' : preferProtobuf };
      const stream = await this.#read(resource, { method: 'GET', path, headers, signal, idleMs });
      yield [];
      yield* this.#events(resource, stream, options);
    } catch (error) {
      if (!signal.aborted) throw error;
    }
  }

  #collection(resource: Resource): string {
    const { namespace } = this.#options;
    return namespace === undefined ? collectionPath(resource) : objectPath(resource, namespace);
  }

  async #read(resource: Resource, request: ApiRequest & { readonly idleMs: number }): Promise<ApiStream> {
    try {
      return await this.connection.stream(request);
    } catch (error) {
      if (error instanceof ApiError && error.status === 404) throw notServed(resource, error);
      throw error;
    }
  }

  #events(
    resource: Resource,
    { headers, chunks }: ApiStream,
    { sendInitialEvents: initialEvents = false, onSkipped = () => {} }: WatchOptions,
  ): AsyncIterable<readonly WatchEvent[]> {
    const { clock } = this.#options;
    const reading = { resource, initialEvents, onSkipped, now: () => clock.now() };
    const isProtobuf = `${headers['content-type']}`.startsWith(protobufMediaType);
    if (!isProtobuf) return eventsOfLines(reading, chunks);
    return eventsOfFrames(reading, chunks, this.#texts, () => this.#readAsJson.add(resource));
  }

  async get(
    resource: Resource,
    namespace: string,
    name: string,
    signal: AbortSignal,
    beforeSend?: BeforeSend,
  ): Promise<RawObject> {
    const path = objectPath(resource, namespace, name);
    const object = { resource, name };
    const { body } = await this.connection.request({ method: 'GET', path, object, signal, beforeSend });
    return this.#requested(body, resource, { namespace, name });
  }

  create(
    resource: WrittenResource,
    object: Endpoints | EndpointSlice,
    signal: AbortSignal,
    beforeSend?: BeforeSend,
  ): Promise<WrittenMeta> {
    const path = objectPath(resource, object.metadata.namespace);
    return this.#write(resource, object, { method: 'POST', path, signal, beforeSend });
  }

  update(
    resource: WrittenResource,
    object: Endpoints | EndpointSlice,
    signal: AbortSignal,
    beforeSend?: BeforeSend,
  ): Promise<WrittenMeta> {
    const { namespace, name } = object.metadata;
    const path = objectPath(resource, namespace, name);
    return this.#write(resource, object, { method: 'PUT', path, signal, beforeSend });
  }

  async delete(
    resource: WrittenResource,
    namespace: string,
    name: string,
    preconditions: { uid?: string; resourceVersion?: string },
    signal: AbortSignal,
    beforeSend?: BeforeSend,
  ): Promise<RawObject | undefined> {
    const path = objectPath(resource, namespace, name);
    const body = { apiVersion: 'v1', kind: 'DeleteOptions', preconditions };
    const object = { resource, name };
    const answer = await this.connection.request({ method: 'DELETE', path, body, object, signal, beforeSend });
    const { kind, status, details } = asRecord(answer.body);
    if (kind !== 'Status') return heldBack(this.#requested(answer.body, resource, { namespace, name }));
    const { name: deleted = name } = asRecord(details);
    if (status !== 'Success' || deleted !== name)
      throw invalidAnswerError(this.connection.server, 'no Status of this deletion');
    return undefined;
  }

  async createEvent(event: EventObject, signal: AbortSignal): Promise<void> {
    const path = eventsPath(event.metadata.namespace);
    await this.connection.request({ method: 'POST', path, body: event, headers: { accept: metadataOnly }, signal });
  }

  async patchEvent(namespace: string, name: string, patch: unknown, signal: AbortSignal): Promise<void> {
    const path = `${eventsPath(namespace)}/${encodeURIComponent(name)}`;
    const headers = { accept: metadataOnly, 'content-type': 'application/merge-patch+json' };
    await this.connection.request({ method: 'PATCH', path, body: patch, headers, signal });
  }

  async #write(
    resource: WrittenResource,
    object: Endpoints | EndpointSlice,
    request: ApiRequest,
  ): Promise<WrittenMeta> {
    for (;;) {
      const accept = this.#writeAccept;
      const { body, type } = this.#body(resource, object);
      const headers = { accept, 'content-type': type };
      const about = { resource, name: object.metadata.name };
      try {
        const answer = await this.connection.request({ ...request, body, headers, object: about });
        return this.#writtenMeta(answer.body, resource, object.metadata);
      } catch (error) {
        // Rejected before anything was stored: the server does not support the format of the request or of the
        // response.
        if (!(error instanceof ApiError)) throw error;
        if (error.status === 406 && accept === preferProtobufMetadata) this.#writeAccept = 'application/json';
        else if (error.status === 415 && type === protobufMediaType) this.#writesProtobuf = false;
        else throw error;
      }
    }
  }

  #body(resource: WrittenResource, object: Endpoints | EndpointSlice): { body: unknown; type: string } {
    const encoded = this.#writesProtobuf ? encodeObject(resource, object) : undefined;
    if (encoded !== undefined) return { body: encoded, type: protobufMediaType };
    const body = { ...object, apiVersion: apiVersion(resource), kind: resourceInfo[resource].kind };
    return { body, type: 'application/json' };
  }

  #writtenMeta(body: unknown, resource: WrittenResource, sent: { namespace: string; name: string }): WrittenMeta {
    const object = Buffer.isBuffer(body) ? this.#decodeMetadata(body) : body;
    const { metadata } = this.#requested(object, resource, sent);
    const { name, uid, resourceVersion, generation, creationTimestamp } = asRecord(metadata);
    if (asString(resourceVersion) === '') {
      throw invalidAnswerError(this.connection.server, 'a stored object without resourceVersion');
    }
    return {
      name: asString(name),
      uid: asString(uid),
      resourceVersion: asString(resourceVersion),
      // Endpoints have no generation.
      generation: typeof generation === 'number' ? generation : 0,
      ...(typeof creationTimestamp === 'string' && { creationTimestamp }),
    };
  }

  /** @throws ApiError if the answer is about another object */
  #requested(body: unknown, resource: Resource, { namespace, name }: { namespace: string; name: string }): RawObject {
    const { kind } = resourceInfo[resource];
    return requestedObject(this.connection.server, body, { kind, namespace, name });
  }

  #decodeMetadata(bytes: Buffer): unknown {
    try {
      return decodeStoredMetadata(bytes, this.#texts);
    } catch (error) {
      if (!(error instanceof MalformedProtobufError)) throw error;
      throw invalidAnswerError(this.connection.server, `not an object in protobuf: ${error.message}`);
    }
  }
}

function eventsPath(namespace: string): string {
  return `/api/v1/namespaces/${encodeURIComponent(namespace)}/events`;
}

/** An empty collection is found as well, so a 404 means that the server does not support the resource. */
function notServed(resource: Resource, cause: ApiError): ApiError {
  const message = `the server does not serve ${resource} in ${apiVersion(resource)}; upgrade it to Kubernetes 1.21 or later (${cause.message})`;
  return new ApiError(message, { kind: 'terminal', status: cause.status, reason: cause.reason, cause });
}
