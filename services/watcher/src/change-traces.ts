import {
  type Cause,
  causeKindOf,
  isSampled,
  maxTraces,
  type ServiceKey,
  stepOf,
  type TraceParent,
} from '@sluice/messages';
import type { Clock } from '@sluice/runtime';
import { messageAttributes, type SpanAttributes, serviceAttributes, type Tracer } from '@sluice/telemetry';

/** The trace of one cause that is to be told to one Service. */
export interface TracedCause {
  readonly trace: TraceParent;
  readonly cause: Cause;
}

/** A Change on its way to the bus. */
export interface TracedChange {
  readonly key: ServiceKey;
  /** Of the record. */
  readonly id: string;
  /** The first is continued by the Change; the others came together with it. */
  readonly causes: readonly TracedCause[];
  /** When it was composed. */
  readonly composedAt: number;
}

export interface ChangeTracesOptions {
  readonly tracer: Tracer;
  readonly clock: Clock;
  readonly epoch: number;
}

/** What is traced of Changes before others take over: `watch`, and `publish changes`. */
export class ChangeTraces {
  readonly #options: ChangeTracesOptions;

  constructor(options: ChangeTracesOptions) {
    this.#options = options;
  }

  /** Begins the trace of a cause. Of those that come together the first recorded one leads. */
  begin(causes: readonly TracedCause[], cause: Cause): readonly TracedCause[] {
    const trace = this.#options.tracer.begin();
    const [first] = causes;
    if (first === undefined || (isSampled(trace) && !isSampled(first.trace))) return [{ trace, cause }];
    return isSampled(trace) && causes.length < maxTraces ? [...causes, { trace, cause }] : causes;
  }

  compose(key: ServiceKey, id: string, causes: readonly TracedCause[]): TracedChange {
    return { key, id, causes, composedAt: this.#options.clock.now() };
  }

  /** The bus has taken them. */
  published(partition: number, changes: readonly TracedChange[]): void {
    const endedAt = this.#options.clock.now();
    for (const change of changes) this.#published(partition, change, endedAt);
  }

  #published(partition: number, { key, id, causes, composedAt }: TracedChange, endedAt: number): void {
    const [first, ...others] = causes;
    if (first === undefined || !isSampled(first.trace)) return;
    const { tracer, epoch } = this.#options;
    const attributes = { ...serviceAttributes(key), 'sluice.epoch': epoch };
    this.#watched(first, composedAt, attributes, []);
    for (const other of others) this.#watched(other, composedAt, attributes, [first.trace]);
    tracer.record({
      name: 'publish changes',
      kind: 'producer',
      at: first.trace,
      parent: stepOf(first.trace, 'make'),
      startedAt: composedAt,
      endedAt,
      attributes: {
        ...attributes,
        ...messageAttributes(tracer, { operation: 'publish', topic: 'changes', partition, id }),
      },
      links: others.map(({ trace }) => stepOf(trace, 'make')),
    });
  }

  /** `carriedBy`: the message that told of it, in another trace. */
  #watched(
    { trace, cause }: TracedCause,
    endedAt: number,
    attributes: SpanAttributes,
    carriedBy: readonly TraceParent[],
  ): void {
    this.#options.tracer.record({
      name: `watch ${causeKindOf(cause)}`,
      kind: 'internal',
      at: stepOf(trace, 'make'),
      parent: null,
      startedAt: cause.observedAt,
      endedAt,
      attributes: {
        ...attributes,
        'sluice.cause': cause.description,
        ...(carriedBy.length > 0 && { 'sluice.coalesced': true }),
      },
      links: carriedBy,
    });
  }
}
