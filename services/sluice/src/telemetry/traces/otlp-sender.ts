import { type Link, type SpanContext, SpanKind, SpanStatusCode, TraceFlags } from '@opentelemetry/api';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-proto';
import { type Resource, resourceFromAttributes } from '@opentelemetry/resources';
import type { ReadableSpan } from '@opentelemetry/sdk-trace';
import { spanIdOf, type TraceParent, traceIdOf } from '@sluice/messages';
import type { Span } from '@sluice/telemetry';
import { version } from '../../system/version.ts';

/** A span, and the attributes of the process that did it: one object for all spans of a service. */
export interface ServiceSpan {
  readonly span: Span;
  readonly resource: Readonly<Record<string, string>>;
}

export interface OtlpSender {
  /** Rejects if the collector did not take them, for as long as the exporter tries. */
  send(spans: readonly ServiceSpan[]): Promise<void>;
  close(): Promise<void>;
}

/** How long one batch is tried. */
const timeoutMillis = 5_000;

/** Sends spans as OTLP (protobuf over HTTP). */
export function otlpSender(url: string): OtlpSender {
  const exporter = new OTLPTraceExporter({ url, timeoutMillis });
  const resources = new Map<ServiceSpan['resource'], Resource>();
  const resourceOf = (attributes: ServiceSpan['resource']): Resource => {
    let resource = resources.get(attributes);
    if (resource === undefined) {
      resource = resourceFromAttributes(attributes);
      resources.set(attributes, resource);
    }
    return resource;
  };
  return {
    send: (spans) =>
      new Promise((resolve, reject) => {
        const readable = spans.map(({ span, resource }) => toReadableSpan(span, resourceOf(resource)));
        exporter.export(readable, ({ error, code }) => {
          if (code === 0) resolve();
          else reject(error ?? new Error('the collector did not take them'));
        });
      }),
    close: () => exporter.shutdown(),
  };
}

const kinds: Readonly<Record<Span['kind'], SpanKind>> = {
  internal: SpanKind.INTERNAL,
  producer: SpanKind.PRODUCER,
  consumer: SpanKind.CONSUMER,
  client: SpanKind.CLIENT,
};

const instrumentationScope = { name: 'sluice', version };

export function toReadableSpan(span: Span, resource: Resource): ReadableSpan {
  const context = contextOf(span.at, false);
  return {
    name: span.name,
    kind: kinds[span.kind],
    spanContext: () => context,
    ...(span.parent !== null && {
      // What a consumer continues came from another process, mostly.
      parentSpanContext: contextOf(span.parent, span.kind === 'consumer'),
    }),
    startTime: hrTime(span.startedAt),
    endTime: hrTime(Math.max(span.startedAt, span.endedAt)),
    duration: hrTime(Math.max(0, span.endedAt - span.startedAt)),
    status:
      span.error === undefined ? { code: SpanStatusCode.UNSET } : { code: SpanStatusCode.ERROR, message: span.error },
    attributes: span.attributes as ReadableSpan['attributes'],
    links: (span.links ?? []).map((trace): Link => ({ context: contextOf(trace, true) })),
    events: [],
    ended: true,
    resource,
    instrumentationScope,
    droppedAttributesCount: 0,
    droppedEventsCount: 0,
    droppedLinksCount: 0,
  };
}

function contextOf(trace: TraceParent, isRemote: boolean): SpanContext {
  return { traceId: traceIdOf(trace), spanId: spanIdOf(trace), traceFlags: TraceFlags.SAMPLED, isRemote };
}

/** Seconds and nanoseconds. */
function hrTime(ms: number): [number, number] {
  const seconds = Math.floor(ms / 1_000);
  return [seconds, Math.min(999_999_999, Math.round((ms - seconds * 1_000) * 1e6))];
}
