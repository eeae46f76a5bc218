import { z } from 'zod';
import type { TraceView } from '../view/schemas.ts';
import { type ViewedSpan, viewTrace } from './view-trace.ts';

/** The fields in use of Jaeger's response at `/api/traces/{id}`. Times are in microseconds. */
const reference = z.object({ refType: z.string(), traceID: z.string(), spanID: z.string() });
const tag = z.object({ key: z.string(), value: z.union([z.string(), z.number(), z.boolean()]).catch('') });
const span = z.object({
  traceID: z.string(),
  spanID: z.string(),
  operationName: z.string(),
  startTime: z.number(),
  duration: z.number(),
  references: z.array(reference).nullish(),
  tags: z.array(tag).nullish(),
  processID: z.string(),
});
const trace = z.object({
  traceID: z.string(),
  spans: z.array(span),
  processes: z.record(z.string(), z.object({ serviceName: z.string() })),
});
const response = z.object({ data: z.array(trace).nullish() });

type JaegerSpan = z.infer<typeof span>;

/** Attributes that are shown in another way, or of no use to people. */
const hidden = new Set(['error', 'otel.status_code', 'otel.status_description', 'span.kind', 'internal.span.format']);

/**
 * Parses a response of Jaeger's query API; null if it contains no trace.
 *
 * @throws Error if it is not a response of Jaeger
 */
export function parseJaegerTrace(body: unknown): TraceView | null {
  const parsed = response.safeParse(body);
  if (!parsed.success) throw new Error('not a Jaeger query API: unexpected response format');
  const [found] = parsed.data.data ?? [];
  if (found === undefined) return null;
  const { traceID, processes } = found;
  return viewTrace(
    traceID,
    found.spans.map((span) => viewedSpan(span, processes[span.processID]?.serviceName ?? '')),
  );
}

function viewedSpan(jaegerSpan: JaegerSpan, service: string): ViewedSpan {
  const { traceID, spanID, operationName, startTime, duration } = jaegerSpan;
  const references = jaegerSpan.references ?? [];
  const parent = references.find(({ refType, traceID: of }) => refType === 'CHILD_OF' && of === traceID);
  const failed = tagOf(jaegerSpan, 'error') === 'true';
  return {
    id: spanID,
    parent: parent?.spanID ?? null,
    service,
    name: operationName,
    startedAt: startTime / 1_000,
    durationMs: duration / 1_000,
    error: failed ? (tagOf(jaegerSpan, 'otel.status_description') ?? 'failed') : null,
    attributes: (jaegerSpan.tags ?? [])
      .filter(({ key }) => !hidden.has(key))
      .map(({ key, value }) => ({ name: key, value: String(value) })),
    links: references
      .filter((reference) => reference !== parent)
      .map(({ traceID, spanID }) => ({ traceId: traceID, spanId: spanID })),
  };
}

function tagOf({ tags }: JaegerSpan, name: string): string | undefined {
  const found = tags?.find(({ key }) => key === name);
  return found && String(found.value);
}
