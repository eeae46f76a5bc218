import { spanIdOf, type TraceContext, traceIdOf } from '@sluice/messages';
import type { Tracers } from '@sluice/sluice';
import { type RecordedSpan, RecordedSpans } from '@sluice/telemetry/testing';

/** Records the spans of a fleet in memory. */
export class RecordedTraces {
  readonly tracers: Tracers;
  readonly #recorded = new RecordedSpans();

  constructor(options: { readonly ratio: number; readonly slowMs?: number }) {
    this.tracers = {
      watcher: this.#recorded.tracer({ ...options, service: 'watcher', seed: 101 }),
      reconciler: this.#recorded.tracer({ ...options, service: 'reconciler', seed: 102 }),
      writer: this.#recorded.tracer({ ...options, service: 'writer', seed: 103 }),
    };
  }

  get spans(): RecordedSpan[] {
    return this.#recorded.spans;
  }

  /** The spans of each trace. */
  get traces(): readonly (readonly RecordedSpan[])[] {
    return [...Map.groupBy(this.spans, ({ context }) => traceIdOf(context)).values()];
  }

  /** Spans whose parent is not recorded. */
  get orphans(): readonly RecordedSpan[] {
    const known = new Set(this.spans.map(({ context }) => idsOf(context)));
    return this.spans.filter(({ parent }) => parent !== null && !known.has(idsOf(parent)));
  }

  /** Spans that are recorded more than once. */
  get repeated(): readonly RecordedSpan[] {
    const all = this.spans.map(({ context }) => idsOf(context));
    return this.spans.filter((_, i) => all.indexOf(all[i] ?? '') !== i);
  }

  /** The recorded span with these ids. */
  span(context: TraceContext): RecordedSpan | undefined {
    return this.spans.find((span) => idsOf(span.context) === idsOf(context));
  }
}

const idsOf = (context: TraceContext): string => `${traceIdOf(context)}/${spanIdOf(context)}`;

/** A trace as a tree: one line per span, indented below its parent. */
export function outline(spans: readonly RecordedSpan[]): readonly string[] {
  const below = (parent: string | null, depth: number): string[] =>
    spans
      .filter((span) => (span.parent === null ? null : spanIdOf(span.parent)) === parent)
      .flatMap((span) => [
        `${'  '.repeat(depth)}${span.service}: ${span.name}`,
        ...below(spanIdOf(span.context), depth + 1),
      ]);
  return below(null, 0);
}
