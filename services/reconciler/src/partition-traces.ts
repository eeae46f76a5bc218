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
  recordedTraceOf,
  type ServiceKey,
  sampled,
  stepOf,
  type TraceParent,
  traceOf,
} from '@sluice/messages';
import type { Clock } from '@sluice/runtime';
import type { InFlight } from '@sluice/service-state';
import { messageAttributes, planAttributes, type Span, serviceAttributes, type Tracer } from '@sluice/telemetry';

export interface PartitionTracesOptions {
  readonly tracer: Tracer;
  readonly clock: Clock;
  readonly partition: number;
  readonly epoch: number;
}

/**
 * What is traced of a partition's work: `process changes`, `decide`, `commit` and `publish mutations`. What a step did is
 * told when it is committed: before, it may never have happened.
 */
export class PartitionTraces {
  readonly #options: PartitionTracesOptions;
  /** Of the step that goes on. */
  #uncommitted: Span[] = [];
  /** Decisions of that step, by the place of their first message. */
  #decisions: { readonly trace: TraceParent; readonly key: ServiceKey }[] = [];

  constructor(options: PartitionTracesOptions) {
    this.#options = options;
  }

  now(): number {
    return this.#options.clock.now();
  }

  /** The message, as what comes of it is to continue the trace of its record. */
  received<T extends Message>(record: Delivery, message: T): T {
    if (message.kind !== 'change') return message;
    const trace = traceOf(record.headers);
    if (trace === undefined) return message;
    return { ...message, causes: { ...message.causes, traces: [trace] } };
  }

  /** A record has been folded, or could not be. */
  folded(record: Delivery, startedAt: number, error?: string): void {
    const trace = recordedTraceOf(record.headers);
    if (trace === undefined) return;
    const { tracer, partition, epoch } = this.#options;
    this.#uncommitted.push({
      name: 'process changes',
      kind: 'consumer',
      at: stepOf(trace, 'process'),
      parent: trace,
      startedAt,
      endedAt: this.now(),
      attributes: {
        ...(isServiceKey(record.key) && serviceAttributes(parseServiceKey(record.key))),
        ...messageAttributes(tracer, { operation: 'process', topic: 'changes', partition, id: record.id }),
        'messaging.consumer.group.name': 'reconciler',
        'sluice.epoch': epoch,
      },
      ...(error !== undefined && { error }),
    });
  }

  /**
   * A decision has been made because of these causes, or could not be. Returns the place of its plan's message. Each
   * Change that led to it has a span `decide` in its own trace; those that came together with the first lead to that one.
   */
  decided(
    key: ServiceKey,
    controller: Controller,
    causes: Causes,
    startedAt: number,
    plan: PlannedMutations | undefined,
    error?: string,
  ): TraceParent | undefined {
    const [first, ...others] = causes.traces ?? [];
    if (first === undefined) return undefined;
    const { tracer, epoch } = this.#options;
    const trace = tracer.child(first);
    if (!isSampled(first)) return trace;
    const decision = stepOf(trace, 'make');
    const span = {
      name: `decide ${controller}`,
      kind: 'internal',
      startedAt,
      endedAt: this.now(),
      attributes: {
        ...serviceAttributes(key),
        ...(plan ? planAttributes(controller, plan.plan) : { 'sluice.controller': controller, 'sluice.epoch': epoch }),
        'sluice.writes': plan?.groups.reduce((sum, { mutations }) => sum + mutations.length, 0) ?? 0,
        'sluice.changes': 1 + others.length,
      },
      ...(error !== undefined && { error }),
    } as const;
    const folded = (change: TraceParent) => stepOf(change, 'process');
    this.#uncommitted.push({ ...span, at: decision, parent: folded(first), links: others.map(folded) });
    for (const other of others) {
      this.#uncommitted.push({
        ...span,
        at: tracer.child(other),
        parent: folded(other),
        attributes: { ...span.attributes, 'sluice.coalesced': true },
        links: [decision],
      });
    }
    this.#decisions.push({ trace, key });
    return trace;
  }

  /** What was folded and decided is in the store. */
  committed(startedAt: number): void {
    const { tracer, partition } = this.#options;
    const endedAt = this.now();
    for (const span of this.#uncommitted) tracer.record(span);
    for (const { trace, key } of this.#decisions) {
      tracer.record({
        name: 'commit',
        kind: 'client',
        at: stepOf(trace, 'commit'),
        parent: stepOf(trace, 'make'),
        startedAt,
        endedAt,
        attributes: {
          ...serviceAttributes(key),
          'db.system.name': tracer.systems.store,
          'db.operation.name': 'commit',
          'sluice.partition': partition,
        },
      });
    }
    this.#uncommitted = [];
    this.#decisions = [];
  }

  /**
   * Plans are on the bus. The spans of a former owner that died before it noted so may be lost with it, so its plans follow
   * from what led to them (`origins`, by the id of the record).
   */
  published(
    records: readonly BusRecord[],
    startedAt: number,
    origins?: ReadonlyMap<string, TraceParent | undefined>,
  ): void {
    for (const record of records) {
      const trace = recordedTraceOf(record.headers);
      if (trace === undefined) continue;
      const asked = record.id.includes('/again/');
      const [at, parent] = asked
        ? [this.#options.tracer.child(trace), trace]
        : [trace, origins?.get(record.id) ?? stepOf(trace, 'make')];
      this.#published(record, { at, parent, startedAt }, asked || origins !== undefined);
    }
  }

  #published({ id, key }: BusRecord, span: Pick<Span, 'at' | 'parent' | 'startedAt'>, repeated: boolean): void {
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
   * A plan has its Outcome. Where the writer recorded what nobody else did, because it failed or took long, what is known
   * of how it came about is added, and what follows from it is recorded as well.
   */
  settled(record: Delivery, outcome: Outcome, { message: plan, trace }: InFlight): Outcome {
    const [change] = plan.causes.traces ?? [];
    if (trace === undefined || change === undefined || isSampled(trace)) return outcome;
    if (recordedTraceOf(record.headers) === undefined) return outcome;
    const { tracer } = this.#options;
    const { key, controller, plan: id, decidedAt } = plan;
    const [cause] = plan.causes.first;
    const attributes = { ...serviceAttributes(key), 'sluice.recorded': 'afterwards' };
    const [origin, published] = [sampled(stepOf(change, 'process')), sampled(trace)];
    tracer.record({
      name: `watch ${cause === undefined ? 'other' : causeKindOf(cause)}`,
      kind: 'internal',
      at: origin,
      parent: null,
      startedAt: cause?.observedAt ?? decidedAt,
      endedAt: decidedAt,
      attributes: { ...attributes, 'sluice.cause': cause?.description ?? '' },
    });
    const decision = { startedAt: decidedAt, endedAt: decidedAt };
    tracer.record({
      name: `decide ${controller}`,
      kind: 'internal',
      at: stepOf(published, 'make'),
      parent: origin,
      ...decision,
      attributes: { ...attributes, ...planAttributes(controller, id) },
    });
    tracer.record({
      name: 'publish mutations',
      kind: 'producer',
      at: published,
      parent: stepOf(published, 'make'),
      ...decision,
      attributes: { ...attributes, ...planAttributes(controller, id) },
    });
    return { ...outcome, causes: { ...outcome.causes, traces: [sampled(change)] } };
  }
}
