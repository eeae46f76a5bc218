import type { BusRecord, Delivery } from '@sluice/bus';
import {
  type Causes,
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
import type { Controller } from '@sluice/model';
import type { Clock } from '@sluice/platform';
import type { InFlight } from '@sluice/service-state';
import {
  commitSpan,
  decideSpan,
  lateAttributes,
  processSpan,
  publishSpan,
  type Span,
  type Tracer,
  watchSpan,
} from '@sluice/telemetry';

interface PartitionTracesOptions {
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
  processed({ headers, id, key }: Delivery, startedAt: number, error?: string): void {
    const trace = sampledTraceOf(headers);
    if (trace === undefined) return;
    const { tracer, partition, fencingToken } = this.#options;
    const service = isServiceKey(key) ? parseServiceKey(key) : undefined;
    const message = { tracer, topic: 'changes', partition, id } as const;
    const options = { context: siblingOf(trace, 'process'), parent: trace, startedAt, endedAt: this.now(), error };
    this.#uncommitted.push(processSpan(service, message, { group: 'reconciler', fencingToken }, options));
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
    const processed = (change: TraceContext) => siblingOf(change, 'process');
    const attributes = {
      ...(plan === undefined && { 'sluice.fencing_token': fencingToken }),
      'sluice.writes': plan?.groups.reduce((sum, { mutations }) => sum + mutations.length, 0) ?? 0,
      'sluice.changes': 1 + others.length,
    };
    const span = decideSpan(key, controller, plan?.plan, {
      context: decision,
      parent: processed(first),
      startedAt,
      endedAt: this.now(),
      error,
      attributes,
      links: others.map(processed),
    });
    this.#uncommitted.push(span);
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

  /** The batch is committed. `startedAt`: when the commit started. */
  committed(startedAt: number): void {
    const { tracer } = this.#options;
    const endedAt = this.now();
    const decisions = this.#decisions;
    this.flush();
    for (const { trace, key } of decisions) {
      const [context, parent] = [siblingOf(trace, 'commit'), siblingOf(trace, 'create')];
      tracer.record(commitSpan(key, this.#options, { context, parent, startedAt, endedAt }));
    }
  }

  /** Records the spans of the batch without a commit, because nothing waits for one. */
  flush(): void {
    for (const span of this.#uncommitted) this.#options.tracer.record(span);
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
    const { tracer, partition } = this.#options;
    for (const { headers, id, key } of records) {
      const trace = sampledTraceOf(headers);
      if (trace === undefined) continue;
      const isRedelivery = id.includes('/again/');
      const [context, parent] = isRedelivery
        ? [tracer.childOf(trace), trace]
        : [trace, origins?.get(id) ?? siblingOf(trace, 'create')];
      const attributes = isRedelivery || origins !== undefined ? { 'sluice.repeated': true } : {};
      const message = { tracer, topic: 'mutations', partition, id } as const;
      const options = { context, parent, startedAt, endedAt: this.now(), attributes };
      tracer.record(publishSpan(parseServiceKey(key), message, options));
    }
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
    const { key, controller, decidedAt } = plan;
    const [cause] = plan.causes.first;
    const [origin, published] = [sampled(siblingOf(change, 'process')), sampled(trace)];
    const decision = siblingOf(published, 'create');
    const at = { startedAt: decidedAt, endedAt: decidedAt, attributes: lateAttributes };
    const startedAt = cause?.observedAt ?? decidedAt;
    tracer.record(watchSpan(key, cause, { ...at, context: origin, parent: null, startedAt }));
    const decided = decideSpan(key, controller, plan.plan, { ...at, context: decision, parent: origin });
    tracer.record(decided);
    // The record is unknown by now.
    tracer.record({ ...decided, name: 'publish mutations', kind: 'producer', context: published, parent: decision });
    return { ...outcome, causes: { ...outcome.causes, traces: [sampled(change)] } };
  }
}
