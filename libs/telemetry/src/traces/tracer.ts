import type { TraceParent } from '@sluice/messages';

/**
 * Where traces come from and spans go, as a port (docs/guides/tracing.md). A span is told once it is over: nobody holds an open
 * one, and what is not recorded costs nothing but its ids.
 */
export interface Tracer {
  /** A trace that begins, and whether it is recorded: the place of its first message. */
  begin(): TraceParent;
  /** Another span of the same trace. */
  child(of: TraceParent): TraceParent;
  /** Takes a span of a trace that is recorded. Quick, and never throws. */
  record(span: Span): void;
  /** A change that takes longer is recorded, whatever was decided at its beginning. In milliseconds. */
  readonly slowMs: number;
  /** Names of the systems in use, as OpenTelemetry has them. */
  readonly systems: { readonly messaging: string; readonly store: string };
}

/** Times are in milliseconds since the Unix epoch. */
export interface Span {
  /** Of few kinds, so that spans can be searched by it. */
  readonly name: string;
  readonly kind: 'internal' | 'producer' | 'consumer' | 'client';
  readonly at: TraceParent;
  /** Null: the trace begins with it. */
  readonly parent: TraceParent | null;
  readonly startedAt: number;
  readonly endedAt: number;
  readonly attributes: SpanAttributes;
  readonly links?: readonly TraceParent[];
  /** What went wrong, if something did. */
  readonly error?: string;
}

export type SpanAttributes = Readonly<Record<string, string | number | boolean | readonly string[]>>;
