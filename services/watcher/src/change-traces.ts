import { type Cause, isSampled, maxTraces, type ServiceKey, siblingOf, type TraceContext } from '@sluice/messages';
import type { Clock } from '@sluice/platform';
import { publishSpan, type Tracer, watchSpan } from '@sluice/telemetry';

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

interface ChangeTracesOptions {
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
    const attributes = { 'sluice.fencing_token': fencingToken };
    const created = (trace: TraceContext) => siblingOf(trace, 'create');
    for (const { trace, cause } of causes) {
      // The message that carries the cause belongs to another trace.
      const isCoalesced = trace !== first.trace;
      tracer.record(
        watchSpan(key, cause, {
          context: created(trace),
          parent: null,
          startedAt: cause.observedAt,
          endedAt: composedAt,
          attributes: { ...attributes, ...(isCoalesced && { 'sluice.coalesced': true }) },
          links: isCoalesced ? [first.trace] : [],
        }),
      );
    }
    tracer.record(
      publishSpan(
        key,
        { tracer, topic: 'changes', partition, id },
        {
          context: first.trace,
          parent: created(first.trace),
          startedAt: composedAt,
          endedAt,
          attributes,
          links: others.map(({ trace }) => created(trace)),
        },
      ),
    );
  }
}
