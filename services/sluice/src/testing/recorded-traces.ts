import { spanIdOf, traceIdOf } from '@sluice/messages';
import { seededRandom } from '@sluice/runtime';
import { SamplingTracer, type Span } from '@sluice/telemetry';
import type { TracedService, Tracers } from '../telemetry/traces/tracers.ts';

export interface RecordedSpan extends Span {
  readonly service: TracedService;
}

/** Keeps all spans in memory. */
export class RecordedTraces {
  readonly spans: RecordedSpan[] = [];
  readonly tracers: Tracers;

  constructor({ ratio, slowMs = 60_000 }: { ratio: number; slowMs?: number }) {
    const tracer = (service: TracedService, seed: number) =>
      new SamplingTracer({
        ratio,
        slowMs,
        systems: { messaging: 'memory', store: 'memory' },
        random: seededRandom(seed),
        sink: (span) => this.spans.push({ ...span, service }),
      });
    this.tracers = {
      watcher: tracer('watcher', 101),
      reconciler: tracer('reconciler', 102),
      writer: tracer('writer', 103),
    };
  }

  /** By trace. */
  get traces(): readonly (readonly RecordedSpan[])[] {
    return [...Map.groupBy(this.spans, ({ at }) => traceIdOf(at)).values()];
  }

  /** Those whose parent nobody recorded. */
  get orphans(): readonly RecordedSpan[] {
    const known = new Set(this.spans.map(({ at }) => placeOf(at)));
    return this.spans.filter(({ parent }) => parent !== null && !known.has(placeOf(parent)));
  }

  /** Spans that are recorded more than once. */
  get repeated(): readonly RecordedSpan[] {
    return this.spans.filter(({ at }, i) => this.spans.findIndex((other) => placeOf(other.at) === placeOf(at)) !== i);
  }

  /** The one that recorded this place. */
  span(trace: string): RecordedSpan | undefined {
    return this.spans.find(({ at }) => placeOf(at) === placeOf(trace));
  }
}

const placeOf = (trace: string): string => `${traceIdOf(trace)}/${spanIdOf(trace)}`;

/** A trace as a tree, a line a span, each below its parent. */
export function outline(spans: readonly RecordedSpan[]): readonly string[] {
  const below = (parent: string | null, depth: number): string[] =>
    spans
      .filter((span) => (span.parent === null ? null : spanIdOf(span.parent)) === parent)
      .flatMap((span) => [
        `${'  '.repeat(depth)}${span.service}: ${span.name}`,
        ...below(spanIdOf(span.at), depth + 1),
      ]);
  return below(null, 0);
}
