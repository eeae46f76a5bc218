import {
  type Cause,
  causeKindOf,
  isSampled,
  maxTraces,
  type ServiceKey,
  siblingOf,
  type TraceContext,
} from '@sluice/messages';
import type { Clock } from '@sluice/runtime';
import { messageAttributes, type SpanAttributes, serviceAttributes, type Tracer } from '@sluice/telemetry';

/** A cause of a Change, with its trace. Each Service that it concerns has a trace of its own. */
export interface TracedCause {
  readonly trace: TraceContext;
  readonly cause: Cause;
}

/** A Change to publish. */
export interface TracedChange {
  readonly key: ServiceKey;
  /** Id of the record. */
  readonly id: string;
  /** The Change continues the trace of the first; the others are coalesced with it. */
  readonly causes: readonly TracedCause[];
  readonly composedAt: number;
}

export interface ChangeTracesOptions {
  readonly tracer: Tracer;
  readonly clock: Clock;
  readonly fencingToken: number;
}

/** Traces Changes in the watcher: `watch` and `publish changes`. */
export class ChangeTraces {
  readonly #options: ChangeTracesOptions;

  constructor(options: ChangeTracesOptions) {
    this.#options = options;
  }

  /** Starts the trace of a cause. Of coalesced causes the first sampled one comes first. */
  start(causes: readonly TracedCause[], cause: Cause): readonly TracedCause[] {
    const trace = this.#options.tracer.startTrace();
    const [first] = causes;
    if (first === undefined || (isSampled(trace) && !isSampled(first.trace))) return [{ trace, cause }];
    return isSampled(trace) && causes.length < maxTraces ? [...causes, { trace, cause }] : causes;
  }

  composed(key: ServiceKey, id: string, causes: readonly TracedCause[]): TracedChange {
    return { key, id, causes, composedAt: this.#options.clock.now() };
  }

  /** The Changes are published. */
  published(partition: number, changes: readonly TracedChange[]): void {
    const endedAt = this.#options.clock.now();
    for (const change of changes) this.#recordChange(partition, change, endedAt);
  }

  #recordChange(partition: number, { key, id, causes, composedAt }: TracedChange, endedAt: number): void {
    const [first, ...others] = causes;
    if (first === undefined || !isSampled(first.trace)) return;
    const { tracer, fencingToken } = this.#options;
    const attributes = { ...serviceAttributes(key), 'sluice.fencing_token': fencingToken };
    this.#recordCause(first, composedAt, attributes, []);
    for (const other of others) this.#recordCause(other, composedAt, attributes, [first.trace]);
    tracer.record({
      name: 'publish changes',
      kind: 'producer',
      context: first.trace,
      parent: siblingOf(first.trace, 'create'),
      startedAt: composedAt,
      endedAt,
      attributes: {
        ...attributes,
        ...messageAttributes(tracer, { operation: 'publish', topic: 'changes', partition, id }),
      },
      links: others.map(({ trace }) => siblingOf(trace, 'create')),
    });
  }

  /** `carriedBy`: the message that carries the cause, if it belongs to another trace. */
  #recordCause(
    { trace, cause }: TracedCause,
    endedAt: number,
    attributes: SpanAttributes,
    carriedBy: readonly TraceContext[],
  ): void {
    this.#options.tracer.record({
      name: `watch ${causeKindOf(cause)}`,
      kind: 'internal',
      context: siblingOf(trace, 'create'),
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
