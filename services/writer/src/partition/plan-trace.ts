import type { Delivery } from '@sluice/bus';
import { type ApiError, type ClusterRequest, isApiError, type Middleware, objectPath } from '@sluice/kubernetes';
import {
  isSampled,
  isWatcherStart,
  type Outcome,
  type PlannedMutations,
  sampled,
  type TraceContext,
  traceOf,
} from '@sluice/messages';
import type { Clock } from '@sluice/platform';
import {
  lateAttributes,
  planAttributes,
  processSpan,
  publishSpan,
  requestSpan,
  type Span,
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
      if (!isTraced(request)) return next(request);
      const { clock } = this.#options;
      const startedAt = clock.now();
      const completed = (status: number, error?: ApiError) =>
        this.#requests.push({ request, server, startedAt, endedAt: clock.now(), status, error });
      try {
        const response = await next(request);
        completed(methods[request.verb].status);
        return response;
      } catch (error) {
        if (isApiError(error)) completed(error.status, error);
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
      for (const [index, request] of this.#requests.entries()) tracer.record(this.#requestSpan(request, index));
      const message = { tracer, topic: 'changes', partition, id } as const;
      tracer.record(publishSpan(plan.key, message, { context: place, parent, startedAt, endedAt }));
    };
    return { place, published };
  }

  /** Whether to record an unsampled trace. Objects of the watcher's initial list may be slow. */
  #matters({ status, retries, completedAt, causes }: Outcome): boolean {
    const [first] = causes.first;
    const isLate =
      first !== undefined && !isWatcherStart(first) && completedAt - first.observedAt >= this.#options.tracer.slowMs;
    return isLate || retries > 0 || !isGood(status);
  }

  #process({ key, controller, plan }: PlannedMutations, outcome: Outcome, endedAt: number): Span {
    const { tracer, partition, fencingToken } = this.#options;
    const { status, retries, completedAt, causes, message: reason } = outcome;
    const [first] = causes.first;
    const message = { tracer, topic: 'mutations', partition, id: this.#record.id } as const;
    return processSpan(
      key,
      message,
      { group: 'writer', fencingToken },
      {
        context: sampled(this.#context),
        parent: sampled(this.#parent),
        startedAt: this.#startedAt,
        endedAt,
        attributes: {
          ...planAttributes(controller, plan),
          'sluice.status': status,
          'sluice.retries': retries,
          ...(first && { 'sluice.trigger_to_applied_ms': completedAt - first.observedAt }),
          ...(!isSampled(this.#parent) && lateAttributes),
        },
        error: isGood(status) ? undefined : `${status}: ${reason}`,
      },
    );
  }

  #requestSpan({ request, server, startedAt, endedAt, status, error }: CompletedRequest, index: number): Span {
    const { method, named } = methods[request.verb];
    const { resource, namespace, name } = objectOf(request);
    const object = objectText(request);
    const isSame = (one: CompletedRequest) => one.request.verb === request.verb && objectText(one.request) === object;
    const path = objectPath(resource, namespace, named ? name : undefined);
    const template = decodeURI(objectPath(resource, '{namespace}', named ? '{name}' : undefined));
    const resent = this.#requests.slice(0, index).filter(isSame).length;
    const context = sampled(this.#options.tracer.childOf(this.#context));
    return requestSpan(
      { method, path, template, object, server, status, resent, error },
      { context, parent: sampled(this.#context), startedAt, endedAt },
    );
  }
}

/** The write or read of one object. */
type TracedRequest = Extract<ClusterRequest, { readonly verb: keyof typeof methods }>;

const isTraced = (request: ClusterRequest): request is TracedRequest => request.verb in methods;

function objectOf(request: TracedRequest) {
  const { namespace, name } = 'object' in request ? request.object.metadata : request;
  return { resource: request.resource, namespace, name };
}

function objectText(request: TracedRequest): string {
  const { resource, name } = objectOf(request);
  return `${resource}/${name}`;
}

/** A finished request. */
interface CompletedRequest {
  readonly request: TracedRequest;
  readonly server: string | undefined;
  readonly startedAt: number;
  readonly endedAt: number;
  /** HTTP status, 0 without a response. */
  readonly status: number;
  readonly error: ApiError | undefined;
}

const isGood = (status: Outcome['status']): boolean => status === 'applied' || status === 'namespaceTerminating';
