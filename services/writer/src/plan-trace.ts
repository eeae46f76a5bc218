import type { Delivery } from '@sluice/bus';
import { type ApiError, type ClusterWriter, isApiError, objectPath, type Resource } from '@sluice/kubernetes';
import {
  isSampled,
  type Outcome,
  type PlannedMutations,
  sampled,
  type TraceParent,
  traceOf,
  watcherStarted,
} from '@sluice/messages';
import type { Clock } from '@sluice/runtime';
import { messageAttributes, planAttributes, type Span, serviceAttributes, type Tracer } from '@sluice/telemetry';

export interface PlanTraceOptions {
  readonly tracer: Tracer;
  readonly clock: Clock;
  /** The lane. */
  readonly partition: number;
  readonly epoch: number;
}

/** What the conventions for HTTP clients want to know of a request. */
const requests = {
  get: { method: 'GET', status: 200, named: true },
  create: { method: 'POST', status: 201, named: false },
  update: { method: 'PUT', status: 200, named: true },
  delete: { method: 'DELETE', status: 200, named: true },
} as const;

/**
 * What is traced of one plan from when its record is here: `process mutations`, each request, and `publish changes` for its
 * Outcome. A plan that fails, is retried or comes late is recorded even if its trace is not: what was gathered is told once
 * its Outcome is, and the Outcome carries on that it was (docs/adr).
 */
export class PlanTrace {
  readonly #options: PlanTraceOptions;
  readonly #record: Delivery;
  readonly #parent: TraceParent;
  #own: TraceParent | undefined;
  readonly #startedAt: number;
  readonly #requests: Answered[] = [];

  constructor(options: PlanTraceOptions, record: Delivery, parent: TraceParent) {
    this.#options = options;
    this.#record = record;
    this.#parent = parent;
    this.#startedAt = options.clock.now();
  }

  /** Undefined if the record belongs to no trace. */
  static of(options: PlanTraceOptions, record: Delivery): PlanTrace | undefined {
    const parent = traceOf(record.headers);
    return parent === undefined ? undefined : new PlanTrace(options, record, parent);
  }

  /** Of the record. */
  get parent(): TraceParent {
    return this.#parent;
  }

  /** Its span, which most plans do not get. */
  get #at(): TraceParent {
    this.#own ??= this.#options.tracer.child(this.#parent);
    return this.#own;
  }

  /** The same writer, with a span for each request. `server`: the cluster's address, if it has one. */
  traced(writer: ClusterWriter, server: string | undefined): ClusterWriter {
    const request = <T>(
      verb: keyof typeof requests,
      resource: Resource,
      namespace: string,
      name: string,
      send: () => Promise<T>,
    ): Promise<T> => this.#request({ verb, resource, namespace, name, server }, send);
    return {
      get: (resource, namespace, name, ...rest) =>
        request('get', resource, namespace, name, () => writer.get(resource, namespace, name, ...rest)),
      create: (resource, object, ...rest) =>
        request('create', resource, object.metadata.namespace, object.metadata.name, () =>
          writer.create(resource, object, ...rest),
        ),
      update: (resource, object, ...rest) =>
        request('update', resource, object.metadata.namespace, object.metadata.name, () =>
          writer.update(resource, object, ...rest),
        ),
      delete: (resource, namespace, name, ...rest) =>
        request('delete', resource, namespace, name, () => writer.delete(resource, namespace, name, ...rest)),
    };
  }

  /** The Outcome is about to be published: the place of its message, and what to call once it is on the bus. */
  ended(plan: PlannedMutations, outcome: Outcome, partition: number, id: string) {
    const { tracer, clock } = this.#options;
    const recorded = isSampled(this.#parent) || this.#matters(outcome);
    const place = tracer.child(recorded ? sampled(this.#parent) : this.#parent);
    const startedAt = clock.now();
    const published = () => {
      if (!recorded) return;
      const endedAt = clock.now();
      const parent = sampled(this.#at);
      tracer.record(this.#process(plan, outcome, endedAt));
      for (const request of this.#requests) tracer.record(this.#requestSpan(request));
      tracer.record({
        name: 'publish changes',
        kind: 'producer',
        at: place,
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

  /** Whether it is recorded for how it went. What a watcher finds at its start may take long. */
  #matters({ status, retries, completedAt, causes }: Outcome): boolean {
    const [first] = causes.first;
    const isLate =
      first !== undefined &&
      first.description !== watcherStarted &&
      completedAt - first.observedAt >= this.#options.tracer.slowMs;
    return isLate || retries > 0 || !isGood(status);
  }

  #process(plan: PlannedMutations, outcome: Outcome, endedAt: number): Span {
    const { tracer, partition, epoch } = this.#options;
    const [first] = outcome.causes.first;
    return {
      name: 'process mutations',
      kind: 'consumer',
      at: sampled(this.#at),
      parent: sampled(this.#parent),
      startedAt: this.#startedAt,
      endedAt,
      attributes: {
        ...serviceAttributes(plan.key),
        ...planAttributes(plan.controller, plan.plan),
        'sluice.epoch': epoch,
        ...messageAttributes(tracer, { operation: 'process', topic: 'mutations', partition, id: this.#record.id }),
        'messaging.consumer.group.name': 'writer',
        'sluice.status': outcome.status,
        'sluice.retries': outcome.retries,
        ...(first && { 'sluice.trigger_to_applied_ms': outcome.completedAt - first.observedAt }),
        ...(!isSampled(this.#parent) && { 'sluice.recorded': 'afterwards' }),
      },
      ...(!isGood(outcome.status) && { error: `${outcome.status}: ${outcome.message}` }),
    };
  }

  async #request<T>(of: Target, send: () => Promise<T>): Promise<T> {
    const startedAt = this.#options.clock.now();
    try {
      const answer = await send();
      this.#answered(of, startedAt, requests[of.verb].status, undefined);
      return answer;
    } catch (error) {
      if (isApiError(error)) this.#answered(of, startedAt, error.status, error);
      throw error;
    }
  }

  #answered(of: Target, startedAt: number, status: number, error: ApiError | undefined): void {
    const isSame = (one: Answered) =>
      one.of.verb === of.verb && one.of.resource === of.resource && one.of.name === of.name;
    const resent = this.#requests.filter(isSame).length;
    this.#requests.push({ of, startedAt, endedAt: this.#options.clock.now(), status, resent, error });
  }

  #requestSpan({ of, startedAt, endedAt, status, resent, error }: Answered): Span {
    const { method, named } = requests[of.verb];
    const path = objectPath(of.resource, of.namespace, named ? of.name : undefined);
    const template = decodeURI(objectPath(of.resource, '{namespace}', named ? '{name}' : undefined));
    return {
      name: `${method} ${template}`,
      kind: 'client',
      at: sampled(this.#options.tracer.child(this.#at)),
      parent: sampled(this.#at),
      startedAt,
      endedAt,
      attributes: {
        'http.request.method': method,
        'url.template': template,
        ...(of.server === undefined ? { 'url.path': path } : addressAttributes(of.server, path)),
        ...(status > 0 && { 'http.response.status_code': status }),
        ...(resent > 0 && { 'http.request.resend_count': resent }),
        ...(error && { 'error.type': status > 0 ? String(status) : error.reason || 'connection' }),
        'sluice.object': `${of.resource}/${of.name}`,
      },
      ...(error && { error: error.message }),
    };
  }
}

/** What a request is about. */
interface Target {
  readonly verb: keyof typeof requests;
  readonly resource: Resource;
  readonly namespace: string;
  readonly name: string;
  readonly server: string | undefined;
}

/** A request that was answered. Made a span only if it is recorded. */
interface Answered {
  readonly of: Target;
  readonly startedAt: number;
  readonly endedAt: number;
  /** 0: there was no answer. */
  readonly status: number;
  /** How often the same was sent before. */
  readonly resent: number;
  readonly error: ApiError | undefined;
}

const isGood = (status: Outcome['status']): boolean => status === 'applied' || status === 'namespaceTerminating';

function addressAttributes(server: string, path: string) {
  const { hostname, port, protocol } = new URL(server);
  return {
    'url.full': `${server.replace(/\/$/, '')}${path}`,
    'server.address': hostname,
    'server.port': Number(port) || (protocol === 'https:' ? 443 : 80),
  };
}
