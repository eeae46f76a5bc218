import type { IncomingMessage, ServerResponse } from 'node:http';
import type { RawObject } from '@sluice/kubernetes';
import { asRecord, asString, type Clock } from '@sluice/platform';
import { FaultPlan, type Verb } from '../faults/fault-plan.ts';
import { perform } from '../faults/perform.ts';
import type { DeleteOptions } from '../server/deletion.ts';
import { type StoredObject, wireMeta } from '../server/object.ts';
import { apiVersionOf } from '../server/resources.ts';
import { parseFieldSelector, parseLabelSelector, type Selection } from '../server/selection.ts';
import type { FakeApiServer, PatchType, WriteOptions } from '../server/server.ts';
import { badRequest, forbidden, methodNotAllowed, pathNotFound } from '../server/status.ts';
import { sendJson } from './answer.ts';
import { toCoreEvent } from './events-form.ts';
import { type Presentation, presentationFor } from './presentation.ts';
import { readBody, unsupportedMediaType } from './read-body.ts';
import type { ResourceRoute } from './route.ts';
import { streamWatch } from './watch-stream.ts';

export interface ResourceHandlerOptions {
  readonly server: FakeApiServer;
  readonly clock: Clock;
  /** Faults for requests over HTTP. */
  readonly faults?: FaultPlan;
  /** Why writes are forbidden, for people; by default they are not. */
  readonly readOnly?: string;
}

const patchTypes: Readonly<Record<string, PatchType>> = {
  'application/merge-patch+json': 'merge',
  'application/strategic-merge-patch+json': 'strategic',
};

/** A parsed request for a stored resource. */
interface Call {
  readonly route: ResourceRoute;
  readonly query: URLSearchParams;
  readonly verb: Verb | 'deletecollection';
  readonly body: RawObject;
  readonly contentType: string;
}

/** Handles requests for stored resources. */
export class ResourceHandler {
  readonly #server: FakeApiServer;
  readonly #clock: Clock;
  readonly #faults: FaultPlan;
  readonly #readOnly: string | undefined;

  constructor({ server, clock, faults = new FaultPlan(), readOnly }: ResourceHandlerOptions) {
    this.#server = server;
    this.#clock = clock;
    this.#faults = faults;
    this.#readOnly = readOnly;
  }

  async handle(
    route: ResourceRoute,
    query: URLSearchParams,
    request: IncomingMessage,
    response: ServerResponse,
  ): Promise<void> {
    const verb = verbOf(route, query, request.method ?? 'GET');
    if (this.#readOnly !== undefined && !isRead(verb)) throw forbidden(route.info, route.name, this.#readOnly);
    const contentType = (request.headers['content-type'] ?? '').split(';')[0] ?? '';
    const call = { route, query, verb, body: await readBody(request), contentType };
    const gone = new AbortController();
    response.on('close', () => gone.abort());
    const present = presentationFor(route, request.headers.accept ?? '', () => this.#clock.now());
    const run = <T>(act: (behind: number) => T) => this.#perform(call, gone.signal, act);
    if (verb === 'watch') {
      const watch = await run((behind) => this.#server.watch(route.info.name, { ...watchOptions(call), behind }));
      return streamWatch(response, watch, present.object);
    }
    if (verb === 'list') return sendJson(response, 200, await run((behind) => this.#list(call, present, behind)));
    if (verb === 'deletecollection') return sendJson(response, 200, await run(() => this.#deleteAll(call, present)));
    const object = await run(() => this.#act(call));
    const shown = verb === 'delete' ? deletionAnswer(call, object) : present.object(object);
    sendJson(response, verb === 'create' ? 201 : 200, shown);
  }

  #perform<T>({ route, verb, body }: Call, signal: AbortSignal, act: (behind: number) => T): Promise<T> {
    const name = route.name || asString(asRecord(body.metadata).name);
    const request = { verb: verb === 'deletecollection' ? 'delete' : verb, resource: route.info.name, name } as const;
    return perform(this.#faults, this.#clock, signal, request, act);
  }

  #list({ route, query }: Call, present: Presentation, behind: number): RawObject {
    const options = { behind, limit: numberIn(query, 'limit') ?? 0, continueToken: query.get('continue') ?? '' };
    const page = this.#server.list(route.info.name, { ...selectionOf(route, query), ...options });
    const metadata = {
      resourceVersion: page.resourceVersion,
      ...(page.continueToken === '' ? {} : { continue: page.continueToken }),
      ...(page.remainingItemCount === undefined ? {} : { remainingItemCount: page.remainingItemCount }),
    };
    const list = { kind: `${route.info.kind}List`, apiVersion: apiVersionOf(route.info), metadata };
    return present.list(list, page.items.map(item));
  }

  #deleteAll(call: Call, present: Presentation): RawObject {
    const { route, query } = call;
    const { items, resourceVersion } = this.#server.list(route.info.name, selectionOf(route, query));
    for (const { metadata } of items)
      this.#server.delete(route.info.name, metadata.namespace, metadata.name, deleteOptions(call));
    const list = {
      kind: `${route.info.kind}List`,
      apiVersion: apiVersionOf(route.info),
      metadata: { resourceVersion },
    };
    return present.list(list, items.map(item));
  }

  #act(call: Call): StoredObject {
    const { route, verb, contentType } = call;
    const { info, namespace, name } = route;
    const options: WriteOptions = route.subresource === 'status' ? { subresource: 'status' } : {};
    switch (verb) {
      case 'get':
        return this.#server.get(info.name, namespace, name);
      case 'create':
        return this.#server.create(info.name, givenObject(call));
      case 'update':
        return this.#server.update(info.name, givenObject(call), options);
      case 'patch': {
        const type = patchTypes[contentType];
        if (type === undefined) throw unsupportedMediaType(contentType);
        return this.#server.patch(info.name, namespace, name, call.body, { ...options, type });
      }
      case 'delete':
        return this.#server.delete(info.name, namespace, name, deleteOptions(call));
      default:
        throw methodNotAllowed();
    }
  }
}

function verbOf(route: ResourceRoute, query: URLSearchParams, method: string): Call['verb'] {
  const { info, name, subresource } = route;
  if (subresource !== '' && !(subresource === 'status' && info.statusSubresource)) throw pathNotFound();
  if (name === '') {
    if (method === 'GET') return isTrue(query.get('watch')) ? 'watch' : 'list';
    if (method === 'POST') return 'create';
    if (method === 'DELETE') return 'deletecollection';
  } else {
    if (method === 'GET') return 'get';
    if (method === 'PUT') return 'update';
    if (method === 'PATCH') return 'patch';
    if (method === 'DELETE' && subresource === '') return 'delete';
  }
  throw methodNotAllowed();
}

function item(object: StoredObject): RawObject {
  return object.metadata.namespace === '' ? { ...object, metadata: wireMeta(object.metadata) } : object;
}

function selectionOf(route: ResourceRoute, query: URLSearchParams): Selection {
  const labels = parseLabelSelector(query.get('labelSelector') ?? '');
  return {
    ...parseFieldSelector(query.get('fieldSelector') ?? ''),
    ...(route.namespace === '' ? {} : { namespace: route.namespace }),
    ...(labels.length === 0 ? {} : { labels }),
  };
}

function watchOptions({ route, query }: Call) {
  return {
    ...selectionOf(route, query),
    resourceVersion: query.get('resourceVersion') ?? '',
    allowBookmarks: isTrue(query.get('allowWatchBookmarks')),
    sendInitialEvents: isTrue(query.get('sendInitialEvents')),
    timeoutMs: (numberIn(query, 'timeoutSeconds') ?? 0) * 1000,
  };
}

/** The object in the body; its kind, namespace and name must match the path. */
function givenObject({ route, body, verb }: Call): RawObject {
  const { info, namespace, name } = route;
  if (body.kind !== undefined && body.kind !== info.kind)
    throw badRequest(`the kind of the object (${asString(body.kind)}) does not match the resource (${info.name})`);
  const metadata = asRecord(body.metadata);
  const given = asString(metadata.namespace);
  if (info.namespaced && given !== '' && namespace !== '' && given !== namespace)
    throw badRequest('the namespace of the provided object does not match the namespace sent on the request');
  if (info.namespaced && namespace === '' && given === '')
    throw badRequest('an empty namespace may not be set during creation');
  if (verb === 'update' && asString(metadata.name) !== name)
    throw badRequest(
      `the name of the object (${asString(metadata.name)}) does not match the name on the URL (${name})`,
    );
  const object = { ...body, metadata: info.namespaced ? { ...metadata, namespace: namespace || given } : metadata };
  return route.form === 'own' ? object : toCoreEvent(object);
}

function deleteOptions({ query, body }: Call): DeleteOptions {
  const { uid, resourceVersion } = asRecord(body.preconditions);
  const grace = body.gracePeriodSeconds ?? numberIn(query, 'gracePeriodSeconds');
  return {
    ...(typeof uid === 'string' ? { uid } : {}),
    ...(typeof resourceVersion === 'string' ? { resourceVersion } : {}),
    ...(typeof grace === 'number' ? { gracePeriodSeconds: grace } : {}),
  };
}

/** Some resources respond to a deletion with the object, most with a Status. */
function deletionAnswer({ route }: Call, object: StoredObject): RawObject {
  const { info } = route;
  if (['pods', 'services', 'namespaces'].includes(info.name)) return object;
  const { name, uid } = object.metadata;
  const details = { name, ...(info.group === '' ? {} : { group: info.group }), kind: info.name, uid };
  return { kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Success', details };
}

const isRead = (verb: Call['verb']): boolean => verb === 'get' || verb === 'list' || verb === 'watch';

function isTrue(value: string | null): boolean {
  return value === '1' || value === 'true';
}

function numberIn(query: URLSearchParams, key: string): number | undefined {
  const value = query.get(key);
  if (value === null || value === '') return undefined;
  if (!/^\d+$/.test(value)) throw badRequest(`invalid value of ${key}: ${value}`);
  return Number(value);
}
