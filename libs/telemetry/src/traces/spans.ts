import {
  ATTR_DB_OPERATION_NAME,
  ATTR_DB_SYSTEM_NAME,
  ATTR_ERROR_TYPE,
  ATTR_HTTP_REQUEST_METHOD,
  ATTR_HTTP_REQUEST_RESEND_COUNT,
  ATTR_HTTP_RESPONSE_STATUS_CODE,
  ATTR_K8S_CLUSTER_UID,
  ATTR_K8S_NAMESPACE_NAME,
  ATTR_SERVER_ADDRESS,
  ATTR_SERVER_PORT,
  ATTR_URL_FULL,
  ATTR_URL_PATH,
} from '@opentelemetry/semantic-conventions';
// Unstable: they may change with the package.
import {
  ATTR_K8S_SERVICE_NAME,
  ATTR_MESSAGING_CONSUMER_GROUP_NAME,
  ATTR_MESSAGING_DESTINATION_NAME,
  ATTR_MESSAGING_DESTINATION_PARTITION_ID,
  ATTR_MESSAGING_MESSAGE_ID,
  ATTR_MESSAGING_OPERATION_NAME,
  ATTR_MESSAGING_OPERATION_TYPE,
  ATTR_MESSAGING_SYSTEM_NAME,
  ATTR_URL_TEMPLATE,
  MESSAGING_OPERATION_TYPE_VALUE_PROCESS,
  MESSAGING_OPERATION_TYPE_VALUE_SEND,
} from '@opentelemetry/semantic-conventions/incubating';
import { type Cause, causeKindOf, type PlanId, type ServiceKey } from '@sluice/messages';
import type { Controller } from '@sluice/model';
import type { Span, SpanAttributes, Tracer } from './tracer.ts';

/** Where a span belongs in its trace, when it was, and attributes in addition to those of its kind. */
interface SpanOptions extends Omit<Span, 'name' | 'kind' | 'attributes' | 'error'> {
  readonly attributes?: SpanAttributes;
  readonly error?: string | undefined;
}

/** Marks the spans of a trace that is recorded because of how it ended. The root sampler always samples these. */
export const lateAttributes = { 'sluice.recorded': 'afterwards' } as const;

export function planAttributes(controller: Controller, { epoch, number }: PlanId): SpanAttributes {
  return { 'sluice.controller': controller, 'sluice.plan': `${epoch}/${number}`, 'sluice.fencing_token': epoch };
}

/** The Service that a span belongs to, if known. Searches use these attributes. */
function serviceAttributes(key: ServiceKey | undefined): SpanAttributes {
  if (key === undefined) return {};
  const { cluster, namespace, service } = key;
  return {
    [ATTR_K8S_CLUSTER_UID]: cluster,
    [ATTR_K8S_NAMESPACE_NAME]: namespace,
    [ATTR_K8S_SERVICE_NAME]: service,
  };
}

/** A record on the bus. */
interface TracedMessage {
  readonly tracer: Tracer;
  readonly topic: 'changes' | 'mutations';
  readonly partition: number;
  /** Id of the record. */
  readonly id: string;
}

function messageAttributes({ tracer, topic, partition, id }: TracedMessage): SpanAttributes {
  return {
    [ATTR_MESSAGING_SYSTEM_NAME]: tracer.systems.messaging,
    [ATTR_MESSAGING_DESTINATION_NAME]: topic,
    [ATTR_MESSAGING_DESTINATION_PARTITION_ID]: String(partition),
    [ATTR_MESSAGING_MESSAGE_ID]: id,
  };
}

function span(
  name: string,
  kind: Span['kind'],
  own: SpanAttributes,
  { attributes, error, ...place }: SpanOptions,
): Span {
  return { name, kind, ...place, attributes: { ...own, ...attributes }, ...(error !== undefined && { error }) };
}

/** From the event of an object until its Change was composed. `cause`: undefined if it is unknown. */
export function watchSpan(key: ServiceKey, cause: Cause | undefined, options: SpanOptions): Span {
  const kind = cause === undefined ? 'other' : causeKindOf(cause);
  const own = { ...serviceAttributes(key), 'sluice.cause': cause?.description ?? '' };
  return span(`watch ${kind}`, 'internal', own, options);
}

export function publishSpan(key: ServiceKey, message: TracedMessage, options: SpanOptions): Span {
  const own = {
    ...serviceAttributes(key),
    ...messageAttributes(message),
    [ATTR_MESSAGING_OPERATION_TYPE]: MESSAGING_OPERATION_TYPE_VALUE_SEND,
    [ATTR_MESSAGING_OPERATION_NAME]: 'publish',
  };
  return span(`publish ${message.topic}`, 'producer', own, options);
}

/** `group`: the role that reads the message. `key`: undefined if the record belongs to no Service. */
export function processSpan(
  key: ServiceKey | undefined,
  message: TracedMessage,
  { group, fencingToken }: { readonly group: string; readonly fencingToken: number },
  options: SpanOptions,
): Span {
  const own = {
    ...serviceAttributes(key),
    ...messageAttributes(message),
    [ATTR_MESSAGING_OPERATION_TYPE]: MESSAGING_OPERATION_TYPE_VALUE_PROCESS,
    [ATTR_MESSAGING_OPERATION_NAME]: 'process',
    [ATTR_MESSAGING_CONSUMER_GROUP_NAME]: group,
  };
  const attributes = { ...options.attributes, 'sluice.fencing_token': fencingToken };
  return span(`process ${message.topic}`, 'consumer', own, { ...options, attributes });
}

/** `plan`: undefined if nothing is planned. */
export function decideSpan(
  key: ServiceKey,
  controller: Controller,
  plan: PlanId | undefined,
  options: SpanOptions,
): Span {
  const decided = plan === undefined ? { 'sluice.controller': controller } : planAttributes(controller, plan);
  return span(`decide ${controller}`, 'internal', { ...serviceAttributes(key), ...decided }, options);
}

export function commitSpan(
  key: ServiceKey,
  { tracer, partition }: Pick<TracedMessage, 'tracer' | 'partition'>,
  options: SpanOptions,
): Span {
  const own = {
    ...serviceAttributes(key),
    [ATTR_DB_SYSTEM_NAME]: tracer.systems.store,
    [ATTR_DB_OPERATION_NAME]: 'commit',
    'sluice.partition': partition,
  };
  return span('commit', 'client', own, options);
}

/** A finished request to an API server. */
interface TracedRequest {
  readonly method: string;
  readonly path: string;
  /** The path with parameters in place of names. */
  readonly template: string;
  /** `<resource>/<name>`. */
  readonly object: string;
  /** URL of the API server, if known. */
  readonly server: string | undefined;
  /** HTTP status, 0 without a response. */
  readonly status: number;
  /** Number of previous attempts. */
  readonly resent: number;
  readonly error: { readonly reason: string; readonly message: string } | undefined;
}

export function requestSpan(request: TracedRequest, options: SpanOptions): Span {
  const { method, path, template, object, server, status, resent, error } = request;
  const own = {
    [ATTR_HTTP_REQUEST_METHOD]: method,
    [ATTR_URL_TEMPLATE]: template,
    ...(server === undefined ? { [ATTR_URL_PATH]: path } : addressAttributes(server, path)),
    ...(status > 0 && { [ATTR_HTTP_RESPONSE_STATUS_CODE]: status }),
    ...(resent > 0 && { [ATTR_HTTP_REQUEST_RESEND_COUNT]: resent }),
    ...(error && { [ATTR_ERROR_TYPE]: status > 0 ? String(status) : error.reason || 'connection' }),
    'sluice.object': object,
  };
  return span(`${method} ${template}`, 'client', own, { ...options, error: error?.message });
}

function addressAttributes(server: string, path: string): SpanAttributes {
  const { hostname, port, protocol } = new URL(server);
  return {
    [ATTR_URL_FULL]: `${server.replace(/\/$/, '')}${path}`,
    [ATTR_SERVER_ADDRESS]: hostname,
    [ATTR_SERVER_PORT]: Number(port) || (protocol === 'https:' ? 443 : 80),
  };
}
