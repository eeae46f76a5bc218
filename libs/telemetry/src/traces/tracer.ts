import type { TraceContext } from '@sluice/messages';

/**
 * The port between Sluice's services and OpenTelemetry (docs/traces.md). Ids exist before spans, because messages carry them
 * across processes; a span is recorded once it is over, with its times. Nobody holds an open span, and a message whose trace
 * is not sampled costs its ids only.
 */
export interface Tracer {
  /** Starts a trace and decides whether it is sampled. Returns the span of its first message. */
  startTrace(): TraceContext;
  /** The ids of another span in the trace of `parent`. */
  childOf(parent: TraceContext): TraceContext;
  /** Records a finished span of a sampled trace. Never throws. */
  record(span: Span): void;
  /** A change that takes longer is recorded even if its trace is not sampled. In milliseconds. */
  readonly slowMs: number;
  /** Names of the bus and the store in OpenTelemetry's semantic conventions. */
  readonly systems: { readonly messaging: string; readonly store: string };
}

/** Times are in milliseconds since the Unix epoch. */
export interface Span {
  /** Of low cardinality. */
  readonly name: string;
  readonly kind: 'internal' | 'producer' | 'consumer' | 'client';
  readonly context: TraceContext;
  /** Null for the root span of a trace. */
  readonly parent: TraceContext | null;
  readonly startedAt: number;
  readonly endedAt: number;
  readonly attributes: SpanAttributes;
  readonly links?: readonly TraceContext[];
  /** Description of the failure, if any. */
  readonly error?: string;
}

export type SpanAttributes = Readonly<Record<string, string | number | boolean>>;
