import type { Delivery } from '@sluice/bus';
import {
  type ApiError,
  type ClusterRequest,
  isApiError,
  type Middleware,
  objectPath,
  type Resource,
} from '@sluice/kubernetes';
import {
  isSampled,
  type Outcome,
  type PlannedMutations,
  sampled,
  type TraceContext,
  traceOf,
  watcherStarted,
} from '@sluice/messages';
import type { Clock } from '@sluice/runtime';
import {
  ATTR_ERROR_TYPE,
  ATTR_HTTP_REQUEST_METHOD,
  ATTR_HTTP_REQUEST_RESEND_COUNT,
  ATTR_HTTP_RESPONSE_STATUS_CODE,
  ATTR_MESSAGING_CONSUMER_GROUP_NAME,
  ATTR_SERVER_ADDRESS,
  ATTR_SERVER_PORT,
  ATTR_URL_FULL,
  ATTR_URL_PATH,
  ATTR_URL_TEMPLATE,
  lateAttributes,
  messageAttributes,
  planAttributes,
  type Span,
  serviceAttributes,
  type Tracer,
} from '@sluice/telemetry';

export interface PlanTraceOptions {
  readonly tracer: Tracer;
  readonly clock: Clock;
  /** Partition of the topic `mutations`. */
  readonly partition: number;
  readonly fencingToken: number;
}

/** How each verb appears as an HTTP request. */
const methods = {
  get: { method: 'GET', status: 200, named: true },
  create: { method: 'POST', status: 201, named: false },
  update: { method: 'PUT', status: 200, named: true },
  delete: { method: 'DELETE', status: 200, named: true },
} as const;

/**
 * Traces one plan from the receipt of its record: `process mutations`, each request, and `publish changes` for its Outcome.
 * A plan that fails, is retried or is slow is recorded even if its trace is not sampled. So its requests are only noted, and
 * become spans once the Outcome is published, which then carries a sampled trace (ADR 0018).
 */
export class PlanTrace {
  readonly #options: PlanTraceOptions;
  readonly #record: Delivery;
  readonly #parent: TraceContext;
  #own: TraceContext | undefined;
  readonly #startedAt: number;
  readonly #requests: CompletedRequest[] = [];

  constructor(options: PlanTraceOptions, record: Delivery, parent: TraceContext) {
    this.#options = options;
    this.#record = record;
    this.#parent = parent;
    this.#startedAt = options.clock.now();
  }

  /** Undefined if the record has no trace. */
  static of(options: PlanTraceOptions, record: Delivery): PlanTrace | undefined {
    const parent = traceOf(record.headers);
    return parent === undefined ? undefined : new PlanTrace(options, record, parent);
  }

  /** The record's trace context. */
  get parent(): TraceContext {
    return this.#parent;
  }

  /** The span of the plan. Created on demand, because most plans are not sampled. */
  get #context(): TraceContext {
    this.#own ??= this.#options.tracer.childOf(this.#parent);
    return this.#own;
  }

  /** Middleware that notes each request. `server`: URL of the API server, if known. */
  traceRequests(server: string | undefined): Middleware {
    return async (request, next) => {
      const target = targetOf(request);
      if (target === undefined) return next(request);
      const startedAt = this.#options.clock.now();
      try {
        const response = await next(request);
        this.#completed({ ...target, server }, startedAt, methods[target.verb].status, undefined);
        return response;
      } catch (error) {
        if (isApiError(error)) this.#completed({ ...target, server }, startedAt, error.status, error);
        throw error;
      }
    };
  }

  /** The Outcome is about to be published. Returns the span of its message, and a callback for when it is published. */
  ended(plan: PlannedMutations, outcome: Outcome, partition: number, id: string) {
    const { tracer, clock } = this.#options;
    const recorded = isSampled(this.#parent) || this.#matters(outcome);
    const place = tracer.childOf(recorded ? sampled(this.#parent) : this.#parent);
    const startedAt = clock.now();
    const published = () => {
      if (!recorded) return;
      const endedAt = clock.now();
      const parent = sampled(this.#context);
      tracer.record(this.#process(plan, outcome, endedAt));
      for (const request of this.#requests) tracer.record(this.#requestSpan(request));
      tracer.record({
        name: 'publish changes',
        kind: 'producer',
        context: place,
        parent,
        startedAt,
        endedAt,
        attributes: {
          ...serviceAttributes(plan.key),
          ...messageAttributes(tracer, { operation: 'publish', topic: 'changes', partition, id }),
        },
      });
    };
    return { place, published };
  }

  /** Whether to record an unsampled trace. Objects of the watcher's initial list may be slow. */
  #matters({ status, retries, completedAt, causes }: Outcome): boolean {
    const [first] = causes.first;
    const isLate =
      first !== undefined &&
      first.description !== watcherStarted &&
      completedAt - first.observedAt >= this.#options.tracer.slowMs;
    return isLate || retries > 0 || !isGood(status);
  }

  #process(plan: PlannedMutations, outcome: Outcome, endedAt: number): Span {
    const { tracer, partition, fencingToken } = this.#options;
    const [first] = outcome.causes.first;
    return {
      name: 'process mutations',
      kind: 'consumer',
      context: sampled(this.#context),
      parent: sampled(this.#parent),
      startedAt: this.#startedAt,
      endedAt,
      attributes: {
        ...serviceAttributes(plan.key),
        ...planAttributes(plan.controller, plan.plan),
        'sluice.fencing_token': fencingToken,
        ...messageAttributes(tracer, { operation: 'process', topic: 'mutations', partition, id: this.#record.id }),
        [ATTR_MESSAGING_CONSUMER_GROUP_NAME]: 'writer',
        'sluice.status': outcome.status,
        'sluice.retries': outcome.retries,
        ...(first && { 'sluice.trigger_to_applied_ms': outcome.completedAt - first.observedAt }),
        ...(!isSampled(this.#parent) && lateAttributes),
      },
      ...(!isGood(outcome.status) && { error: `${outcome.status}: ${outcome.message}` }),
    };
  }

  #completed(of: Target, startedAt: number, status: number, error: ApiError | undefined): void {
    const isSame = (one: CompletedRequest) =>
      one.of.verb === of.verb && one.of.resource === of.resource && one.of.name === of.name;
    const resent = this.#requests.filter(isSame).length;
    this.#requests.push({ of, startedAt, endedAt: this.#options.clock.now(), status, resent, error });
  }

  #requestSpan({ of, startedAt, endedAt, status, resent, error }: CompletedRequest): Span {
    const { method, named } = methods[of.verb];
    const path = objectPath(of.resource, of.namespace, named ? of.name : undefined);
    const template = decodeURI(objectPath(of.resource, '{namespace}', named ? '{name}' : undefined));
    return {
      name: `${method} ${template}`,
      kind: 'client',
      context: sampled(this.#options.tracer.childOf(this.#context)),
      parent: sampled(this.#context),
      startedAt,
      endedAt,
      attributes: {
        [ATTR_HTTP_REQUEST_METHOD]: method,
        [ATTR_URL_TEMPLATE]: template,
        ...(of.server === undefined ? { [ATTR_URL_PATH]: path } : addressAttributes(of.server, path)),
        ...(status > 0 && { [ATTR_HTTP_RESPONSE_STATUS_CODE]: status }),
        ...(resent > 0 && { [ATTR_HTTP_REQUEST_RESEND_COUNT]: resent }),
        ...(error && { [ATTR_ERROR_TYPE]: status > 0 ? String(status) : error.reason || 'connection' }),
        'sluice.object': `${of.resource}/${of.name}`,
      },
      ...(error && { error: error.message }),
    };
  }
}

/** The object of a request. */
interface Target {
  readonly verb: keyof typeof methods;
  readonly resource: Resource;
  readonly namespace: string;
  readonly name: string;
  readonly server: string | undefined;
}

/** The object of a write or read; undefined for other requests. */
function targetOf(request: ClusterRequest): Omit<Target, 'server'> | undefined {
  switch (request.verb) {
    case 'get':
    case 'delete': {
      const { verb, resource, namespace, name } = request;
      return { verb, resource, namespace, name };
    }
    case 'create':
    case 'update': {
      const { namespace, name } = request.object.metadata;
      return { verb: request.verb, resource: request.resource, namespace, name };
    }
    default:
      return undefined;
  }
}

/** A finished request. */
interface CompletedRequest {
  readonly of: Target;
  readonly startedAt: number;
  readonly endedAt: number;
  /** HTTP status, 0 without a response. */
  readonly status: number;
  /** Number of previous attempts. */
  readonly resent: number;
  readonly error: ApiError | undefined;
}

const isGood = (status: Outcome['status']): boolean => status === 'applied' || status === 'namespaceTerminating';

function addressAttributes(server: string, path: string) {
  const { hostname, port, protocol } = new URL(server);
  return {
    [ATTR_URL_FULL]: `${server.replace(/\/$/, '')}${path}`,
    [ATTR_SERVER_ADDRESS]: hostname,
    [ATTR_SERVER_PORT]: Number(port) || (protocol === 'https:' ? 443 : 80),
  };
}
