import { SpanStatusCode } from '@opentelemetry/api';
import { type ExportResult, ExportResultCode, hrTimeToMilliseconds } from '@opentelemetry/core';
import type { ReadableSpan, SpanExporter } from '@opentelemetry/sdk-trace';
import { ATTR_SERVICE_NAME } from '@opentelemetry/semantic-conventions';
import type { EndedSpan } from '../traces/ended-span.ts';

/** Spans of a trace are about 20, of 1 kB each. */
const defaultMaxSpans = 20_000;

/** Keeps the last spans in memory, by trace. The oldest traces go first. */
export class RecentSpans implements SpanExporter {
  readonly #maxSpans: number;
  /** By trace id, in the order of their first spans. */
  readonly #traces = new Map<string, EndedSpan[]>();
  #count = 0;

  constructor(maxSpans = defaultMaxSpans) {
    this.#maxSpans = maxSpans;
  }

  /** The spans of a trace, in the order in which they were recorded; empty if it is unknown. */
  of(traceId: string): readonly EndedSpan[] {
    return this.#traces.get(traceId) ?? [];
  }

  export(spans: readonly ReadableSpan[], callback: (result: ExportResult) => void): void {
    for (const span of spans) this.#add(span);
    callback({ code: ExportResultCode.SUCCESS });
  }

  async shutdown(): Promise<void> {}

  #add(span: ReadableSpan): void {
    const { traceId } = span.spanContext();
    const known = this.#traces.get(traceId);
    if (known === undefined) this.#traces.set(traceId, [endedSpan(span)]);
    else known.push(endedSpan(span));
    this.#count++;
    for (const [oldest, { length }] of this.#traces) {
      if (this.#count <= this.#maxSpans) break;
      this.#traces.delete(oldest);
      this.#count -= length;
    }
  }
}

function endedSpan(span: ReadableSpan): EndedSpan {
  const { name, parentSpanContext, startTime, endTime, status, attributes, links, resource } = span;
  const startedAt = hrTimeToMilliseconds(startTime);
  return {
    id: span.spanContext().spanId,
    parent: parentSpanContext?.spanId ?? null,
    service: String(resource.attributes[ATTR_SERVICE_NAME] ?? ''),
    name,
    startedAt,
    durationMs: hrTimeToMilliseconds(endTime) - startedAt,
    error: status.code === SpanStatusCode.ERROR ? (status.message ?? 'failed') : null,
    attributes: Object.entries(attributes).map(([key, value]) => ({ name: key, value: String(value) })),
    links: links.map(({ context }) => ({ traceId: context.traceId, spanId: context.spanId })),
  };
}
