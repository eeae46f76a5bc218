import {
  type Attributes,
  type Context,
  defaultTextMapGetter,
  type Tracer as OpenTelemetryTracer,
  ROOT_CONTEXT,
  type SpanContext,
  SpanKind,
  SpanStatusCode,
  TraceFlags,
  trace,
} from '@opentelemetry/api';
import { millisToHrTime, W3CTraceContextPropagator } from '@opentelemetry/core';
import type { Resource } from '@opentelemetry/resources';
import {
  type IdGenerator,
  ParentBasedSampler,
  type Sampler,
  SamplingDecision,
  type SpanProcessor,
  TraceIdRatioBasedSampler,
  TracerProvider,
} from '@opentelemetry/sdk-trace';
import { spanIdOf, type TraceContext, traceContext, traceHeaders, traceIdOf, withSpan } from '@sluice/messages';
import type { Random } from '@sluice/platform';
import { lateAttributes } from '../traces/spans.ts';
import type { Span, Tracer } from '../traces/tracer.ts';

interface SdkTracerOptions {
  /** Share of the traces that are sampled at their beginning, 0 to 1. */
  readonly ratio: number;
  readonly slowMs: number;
  readonly systems: Tracer['systems'];
  /** Source of ids. Must not be shared with code that depends on its sequence. */
  readonly random: Random;
  readonly resource: Resource;
  readonly spanProcessors: readonly SpanProcessor[];
  /** Version of the instrumentation scope. */
  readonly version: string;
}

/** Traces with OpenTelemetry's SDK. */
export class SdkTracer implements Tracer {
  readonly slowMs: number;
  readonly systems: Tracer['systems'];
  readonly #ids: ReservedIdGenerator;
  readonly #sampler: Sampler;
  readonly #tracer: OpenTelemetryTracer;
  readonly #propagator = new W3CTraceContextPropagator();

  constructor({ ratio, slowMs, systems, random, resource, spanProcessors, version }: SdkTracerOptions) {
    this.slowMs = slowMs;
    this.systems = systems;
    this.#ids = new ReservedIdGenerator(random);
    this.#sampler = new ParentBasedSampler({ root: lateSampler(new TraceIdRatioBasedSampler(ratio)) });
    const provider = new TracerProvider({
      resource,
      idGenerator: this.#ids,
      sampler: this.#sampler,
      spanProcessors: [...spanProcessors],
    });
    this.#tracer = provider.getTracer('sluice', version);
  }

  startTrace(): TraceContext {
    const traceId = this.#ids.generateTraceId();
    const result = this.#sampler.shouldSample(ROOT_CONTEXT, traceId, 'watch', SpanKind.INTERNAL, {}, []);
    const isSampled = result.decision === SamplingDecision.RECORD_AND_SAMPLED;
    const context = traceContext(traceId, this.#ids.generateSpanId(), isSampled);
    return result.traceState === undefined ? context : `${context} ${result.traceState.serialize()}`;
  }

  childOf(parent: TraceContext): TraceContext {
    return withSpan(parent, this.#ids.generateSpanId());
  }

  record({ name, kind, context, parent, startedAt, endedAt, attributes, links = [], error }: Span): void {
    const options = {
      kind: kinds[kind],
      startTime: millisToHrTime(startedAt),
      attributes: { ...attributes },
      links: links.flatMap((link) => this.#extract(link, true) ?? []).map((linked) => ({ context: linked })),
    };
    const span = this.#ids.withIds(context, () =>
      // The parent of a consumer span is mostly in another process.
      this.#tracer.startSpan(name, options, this.#parentContext(parent, kind === 'consumer')),
    );
    if (error !== undefined) span.setStatus({ code: SpanStatusCode.ERROR, message: error });
    span.end(millisToHrTime(Math.max(startedAt, endedAt)));
  }

  #parentContext(parent: TraceContext | null, isRemote: boolean): Context {
    const spanContext = parent === null ? undefined : this.#extract(parent, isRemote);
    return spanContext === undefined ? ROOT_CONTEXT : trace.setSpanContext(ROOT_CONTEXT, spanContext);
  }

  /** Sampled, like every recorded span. */
  #extract(context: TraceContext, isRemote: boolean): SpanContext | undefined {
    const extracted = this.#propagator.extract(ROOT_CONTEXT, traceHeaders(context), defaultTextMapGetter);
    const spanContext = trace.getSpanContext(extracted);
    return spanContext && { ...spanContext, isRemote, traceFlags: spanContext.traceFlags | TraceFlags.SAMPLED };
  }
}

const kinds: Readonly<Record<Span['kind'], SpanKind>> = {
  internal: SpanKind.INTERNAL,
  producer: SpanKind.PRODUCER,
  consumer: SpanKind.CONSUMER,
  client: SpanKind.CLIENT,
};

/**
 * A root sampler that also samples traces recorded because of how they ended: failed, retried or slow. Their root span is
 * created at the end, with an attribute that says so; for other root spans the given sampler decides.
 */
const lateSampler = (root: Sampler): Sampler => ({
  shouldSample: (...args) =>
    isLate(args[4]) ? { decision: SamplingDecision.RECORD_AND_SAMPLED } : root.shouldSample(...args),
});

const [[lateName, lateValue] = ['', '']] = Object.entries(lateAttributes);
const isLate = (attributes: Attributes): boolean => attributes[lateName] === lateValue;

/**
 * Gives a span the ids that were chosen before it existed. A message carries the id of its span from before it is published,
 * and the SDK creates the span after that, so each id is reserved for the next span.
 */
class ReservedIdGenerator implements IdGenerator {
  readonly #random: Random;
  readonly #bytes = Buffer.alloc(16);
  #reserved: TraceContext | undefined;

  constructor(random: Random) {
    this.#random = random;
  }

  /** Calls `startSpan`, which starts one span, with the ids of `context`. */
  withIds<T>(context: TraceContext, startSpan: () => T): T {
    this.#reserved = context;
    try {
      return startSpan();
    } finally {
      this.#reserved = undefined;
    }
  }

  generateTraceId(): string {
    return this.#reserved === undefined ? this.#id(16) : traceIdOf(this.#reserved);
  }

  generateSpanId(): string {
    return this.#reserved === undefined ? this.#id(8) : spanIdOf(this.#reserved);
  }

  #id(bytes: 8 | 16): string {
    // From 1 to 2³² − 1, because an id of zeros is invalid.
    for (let at = 0; at < bytes; at += 4) {
      this.#bytes.writeUInt32BE(1 + Math.floor(this.#random.next() * 0xffff_ffff), at);
    }
    return this.#bytes.toString('hex', 0, bytes);
  }
}
