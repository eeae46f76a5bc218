import type { BusRecord, Delivery } from '@sluice/bus';
import type { Controller } from '@sluice/controllers';
import {
  type Causes,
  causeKindOf,
  isSampled,
  isServiceKey,
  type Message,
  type Outcome,
  type PlannedMutations,
  parseServiceKey,
  type ServiceKey,
  sampled,
  sampledTraceOf,
  siblingOf,
  type TraceContext,
  traceOf,
} from '@sluice/messages';
import type { Clock } from '@sluice/runtime';
import type { InFlight } from '@sluice/service-state';
import {
  ATTR_DB_OPERATION_NAME,
  ATTR_DB_SYSTEM_NAME,
  ATTR_MESSAGING_CONSUMER_GROUP_NAME,
  lateAttributes,
  messageAttributes,
  planAttributes,
  type Span,
  serviceAttributes,
  type Tracer,
} from '@sluice/telemetry';

export interface PartitionTracesOptions {
  readonly tracer: Tracer;
  readonly clock: Clock;
  readonly partition: number;
  readonly fencingToken: number;
}

interface TracedDecision {
  readonly key: ServiceKey;
  readonly controller: Controller;
  readonly causes: Causes;
  /** In milliseconds since the Unix epoch. */
  readonly startedAt: number;
  readonly plan: PlannedMutations | undefined;
  /** From `planTrace`. */
  readonly trace: TraceContext;
  /** Why the decision failed. */
  readonly reason: string | undefined;
}

/**
 * Traces the work on one partition: `process changes`, `decide`, `commit` and `publish mutations`. The spans of a batch are
 * recorded once it is committed, because a batch that is not committed did not happen.
 */
export class PartitionTraces {
  readonly #options: PartitionTracesOptions;
  /** Spans of the current batch. */
  #uncommitted: Span[] = [];
  /** Decisions of the current batch, with the span of the plan's message. */
  #decisions: { readonly trace: TraceContext; readonly key: ServiceKey }[] = [];

  constructor(options: PartitionTracesOptions) {
    this.#options = options;
  }

  now(): number {
    return this.#options.clock.now();
  }

  /** The message with the trace of its record among its causes, so that decisions continue it. */
  received<T extends Message>(record: Delivery, message: T): T {
    if (message.kind !== 'change') return message;
    const trace = traceOf(record.headers);
    if (trace === undefined) return message;
    return { ...message, causes: { ...message.causes, traces: [trace] } };
  }

  /** A record was applied, or failed with `error`. */
  processed(record: Delivery, startedAt: number, error?: string): void {
    const trace = sampledTraceOf(record.headers);
    if (trace === undefined) return;
    const { tracer, partition, fencingToken } = this.#options;
    this.#uncommitted.push({
      name: 'process changes',
      kind: 'consumer',
      context: siblingOf(trace, 'process'),
      parent: trace,
      startedAt,
      endedAt: this.now(),
      attributes: {
        ...(isServiceKey(record.key) && serviceAttributes(parseServiceKey(record.key))),
        ...messageAttributes(tracer, { operation: 'process', topic: 'changes', partition, id: record.id }),
        [ATTR_MESSAGING_CONSUMER_GROUP_NAME]: 'reconciler',
        'sluice.fencing_token': fencingToken,
      },
      ...(error !== undefined && { error }),
    });
  }

  /** Trace context for the message of a plan with these causes; undefined if none of them is traced. */
  planTrace({ traces }: Causes): TraceContext | undefined {
    const [first] = traces ?? [];
    return first === undefined ? undefined : this.#options.tracer.childOf(first);
  }

  /**
   * A decision was made, or failed. It continues the trace of the first cause; the traces of coalesced causes get a span
   * `decide` that links to it.
   */
  decided({ key, controller, causes, startedAt, plan, trace, reason: error }: TracedDecision): void {
    const [first, ...others] = causes.traces ?? [];
    if (first === undefined || !isSampled(first)) return;
    const { tracer, fencingToken } = this.#options;
    const decision = siblingOf(trace, 'create');
    const span = {
      name: `decide ${controller}`,
      kind: 'internal',
      startedAt,
      endedAt: this.now(),
      attributes: {
        ...serviceAttributes(key),
        ...(plan
          ? planAttributes(controller, plan.plan)
          : { 'sluice.controller': controller, 'sluice.fencing_token': fencingToken }),
        'sluice.writes': plan?.groups.reduce((sum, { mutations }) => sum + mutations.length, 0) ?? 0,
        'sluice.changes': 1 + others.length,
      },
      ...(error !== undefined && { error }),
    } as const;
    const processed = (change: TraceContext) => siblingOf(change, 'process');
    this.#uncommitted.push({ ...span, context: decision, parent: processed(first), links: others.map(processed) });
    for (const other of others) {
      this.#uncommitted.push({
        ...span,
        context: tracer.childOf(other),
        parent: processed(other),
        attributes: { ...span.attributes, 'sluice.coalesced': true },
        links: [decision],
      });
    }
    this.#decisions.push({ trace, key });
  }

  /** The batch is committed. */
  committed(startedAt: number): void {
    const { tracer, partition } = this.#options;
    const endedAt = this.now();
    for (const span of this.#uncommitted) tracer.record(span);
    for (const { trace, key } of this.#decisions) {
      tracer.record({
        name: 'commit',
        kind: 'client',
        context: siblingOf(trace, 'commit'),
        parent: siblingOf(trace, 'create'),
        startedAt,
        endedAt,
        attributes: {
          ...serviceAttributes(key),
          [ATTR_DB_SYSTEM_NAME]: tracer.systems.store,
          [ATTR_DB_OPERATION_NAME]: 'commit',
          'sluice.partition': partition,
        },
      });
    }
    this.#uncommitted = [];
    this.#decisions = [];
  }

  /**
   * Plans are published. With `origins`, by record id, they are a former owner's: its spans may be lost, so these descend from
   * the change that caused the plan.
   */
  published(
    records: readonly BusRecord[],
    startedAt: number,
    origins?: ReadonlyMap<string, TraceContext | undefined>,
  ): void {
    for (const record of records) {
      const trace = sampledTraceOf(record.headers);
      if (trace === undefined) continue;
      const isRedelivery = record.id.includes('/again/');
      const [context, parent] = isRedelivery
        ? [this.#options.tracer.childOf(trace), trace]
        : [trace, origins?.get(record.id) ?? siblingOf(trace, 'create')];
      this.#published(record, { context, parent, startedAt }, isRedelivery || origins !== undefined);
    }
  }

  #published({ id, key }: BusRecord, span: Pick<Span, 'context' | 'parent' | 'startedAt'>, repeated: boolean): void {
    const { tracer, partition } = this.#options;
    tracer.record({
      name: 'publish mutations',
      kind: 'producer',
      ...span,
      endedAt: this.now(),
      attributes: {
        ...serviceAttributes(parseServiceKey(key)),
        ...messageAttributes(tracer, { operation: 'publish', topic: 'mutations', partition, id }),
        ...(repeated && { 'sluice.repeated': true }),
      },
    });
  }

  /**
   * A plan has its Outcome. If the writer recorded an unsampled trace because the plan failed or was slow, adds the spans that
   * led to it, as far as the state knows them, and returns the Outcome with a sampled trace, so that the next attempt is recorded.
   */
  completed(record: Delivery, outcome: Outcome, { message: plan, trace }: InFlight): Outcome {
    const [change] = plan.causes.traces ?? [];
    if (trace === undefined || change === undefined || isSampled(trace)) return outcome;
    if (sampledTraceOf(record.headers) === undefined) return outcome;
    const { tracer } = this.#options;
    const { key, controller, plan: id, decidedAt } = plan;
    const [cause] = plan.causes.first;
    const attributes = { ...serviceAttributes(key), ...lateAttributes };
    const [origin, published] = [sampled(siblingOf(change, 'process')), sampled(trace)];
    tracer.record({
      name: `watch ${cause === undefined ? 'other' : causeKindOf(cause)}`,
      kind: 'internal',
      context: origin,
      parent: null,
      startedAt: cause?.observedAt ?? decidedAt,
      endedAt: decidedAt,
      attributes: { ...attributes, 'sluice.cause': cause?.description ?? '' },
    });
    const decision = { startedAt: decidedAt, endedAt: decidedAt };
    tracer.record({
      name: `decide ${controller}`,
      kind: 'internal',
      context: siblingOf(published, 'create'),
      parent: origin,
      ...decision,
      attributes: { ...attributes, ...planAttributes(controller, id) },
    });
    tracer.record({
      name: 'publish mutations',
      kind: 'producer',
      context: published,
      parent: siblingOf(published, 'create'),
      ...decision,
      attributes: { ...attributes, ...planAttributes(controller, id) },
    });
    return { ...outcome, causes: { ...outcome.causes, traces: [sampled(change)] } };
  }
}
