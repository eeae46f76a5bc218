import { isSampled, type TraceParent, traceIdOf, traceParent } from '@sluice/messages';
import type { Random } from '@sluice/runtime';
import type { Span, Tracer } from './tracer.ts';

export interface SamplingTracerOptions {
  /** Share of the traces that are recorded from their beginning, 0 to 1. */
  readonly ratio: number;
  readonly slowMs: number;
  readonly systems: Tracer['systems'];
  /** For ids: not one whose sequence something else depends on. */
  readonly random: Random;
  readonly sink: (span: Span) => void;
}

/** Decides where a trace begins (by its id, as OpenTelemetry's ratio does); whoever continues it goes by that. */
export class SamplingTracer implements Tracer {
  readonly slowMs: number;
  readonly systems: Tracer['systems'];
  readonly #options: SamplingTracerOptions;

  constructor(options: SamplingTracerOptions) {
    this.slowMs = options.slowMs;
    this.systems = options.systems;
    this.#options = options;
  }

  begin(): TraceParent {
    const { ratio } = this.#options;
    const last = this.#word();
    // The last word decides and is never zero, which is no id.
    const traceId = hex(this.#word()) + hex(this.#word()) + hex(this.#word()) + hex(last);
    return traceParent(traceId, this.#spanId(), last <= ratio * 0xffff_ffff);
  }

  child(of: TraceParent): TraceParent {
    return traceParent(traceIdOf(of), this.#spanId(), isSampled(of));
  }

  record(span: Span): void {
    this.#options.sink(span);
  }

  #spanId(): string {
    return hex(this.#word()) + hex(this.#word());
  }

  /** From 1 to 2³² − 1. */
  #word(): number {
    return 1 + Math.floor(this.#options.random.next() * 0xffff_ffff);
  }
}

const hex = (word: number): string => word.toString(16).padStart(8, '0');
