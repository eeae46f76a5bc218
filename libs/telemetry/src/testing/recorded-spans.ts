import { type SpanContext, SpanStatusCode, TraceFlags } from '@opentelemetry/api';
import { hrTimeToMilliseconds } from '@opentelemetry/core';
import { resourceFromAttributes } from '@opentelemetry/resources';
import type { ReadableSpan, SpanProcessor } from '@opentelemetry/sdk-trace';
import { ATTR_SERVICE_NAME } from '@opentelemetry/semantic-conventions';
import { type TraceContext, traceContext } from '@sluice/messages';
import { seededRandom } from '@sluice/platform';
import type { Span, SpanAttributes, Tracer } from '../traces/tracer.ts';
import { SdkTracer } from '../tracing/sdk-tracer.ts';

/** A finished span. */
export interface RecordedSpan extends Omit<Span, 'kind'> {
  /** `service.name`. */
  readonly service: string;
}

export interface RecordedTracerOptions {
  /** Source of ids. */
  readonly seed: number;
  readonly service?: string;
  readonly ratio?: number;
  readonly slowMs?: number;
}

/** Keeps the spans of tests in memory. */
export class RecordedSpans {
  readonly spans: RecordedSpan[] = [];
  readonly #processor: SpanProcessor = {
    onStart: () => {},
    onEnd: (span) => void this.spans.push(recordedSpan(span)),
    forceFlush: () => Promise.resolve(),
    shutdown: () => Promise.resolve(),
  };

  tracer({ seed, service = 'sluice', ratio = 1, slowMs = 60_000 }: RecordedTracerOptions): Tracer {
    return new SdkTracer({
      ...{ ratio, slowMs, random: seededRandom(seed), version: 'test' },
      systems: { messaging: 'memory', store: 'memory' },
      resource: resourceFromAttributes({ [ATTR_SERVICE_NAME]: service }),
      spanProcessors: [this.#processor],
    });
  }
}

function recordedSpan(span: ReadableSpan): RecordedSpan {
  const { name, parentSpanContext, attributes, links, status, startTime, endTime, resource } = span;
  return {
    name,
    service: String(resource.attributes[ATTR_SERVICE_NAME]),
    context: textOf(span.spanContext()),
    parent: parentSpanContext === undefined ? null : textOf(parentSpanContext),
    startedAt: hrTimeToMilliseconds(startTime),
    endedAt: hrTimeToMilliseconds(endTime),
    attributes: attributes as SpanAttributes,
    links: links.map(({ context }) => textOf(context)),
    ...(status.code === SpanStatusCode.ERROR && { error: status.message ?? '' }),
  };
}

function textOf({ traceId, spanId, traceFlags, traceState }: SpanContext): TraceContext {
  const context = traceContext(traceId, spanId, (traceFlags & TraceFlags.SAMPLED) !== 0);
  const state = traceState?.serialize() ?? '';
  return state === '' ? context : `${context} ${state}`;
}
