import {
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
  ParentBasedSampler,
  type Sampler,
  SamplingDecision,
  type SpanProcessor,
  TraceIdRatioBasedSampler,
  TracerProvider,
} from '@opentelemetry/sdk-trace';
import { type TraceContext, traceContext, traceHeaders, withSpan } from '@sluice/messages';
import type { Random } from '@sluice/runtime';
import type { Span, Tracer } from '../traces/tracer.ts';
import { LateSampler } from './late-sampler.ts';
import { ReservedIdGenerator } from './reserved-id-generator.ts';

export interface SdkTracerOptions {
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
    this.#sampler = new ParentBasedSampler({ root: new LateSampler(new TraceIdRatioBasedSampler(ratio)) });
    const provider = new TracerProvider({
      ...{ resource, idGenerator: this.#ids, sampler: this.#sampler, spanProcessors: [...spanProcessors] },
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
