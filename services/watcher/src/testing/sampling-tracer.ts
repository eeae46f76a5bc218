import { traceContext } from '@sluice/messages';
import type { Span, Tracer } from '@sluice/telemetry';

/** A tracer that keeps spans. The test decides which traces are sampled; default: all. */
export class SamplingTracer implements Tracer {
  readonly slowMs = 60_000;
  readonly systems = { messaging: 'memory', store: 'memory' };
  readonly spans: Span[] = [];
  /** Of the next traces. */
  sampling: boolean[] = [];
  #traces = 0;

  startTrace(): string {
    return traceContext(String(++this.#traces).padStart(32, 'a'), '00f067aa0ba902b0', this.sampling.shift() ?? true);
  }

  childOf(parent: string): string {
    return parent;
  }

  record(span: Span): void {
    this.spans.push(span);
  }
}
