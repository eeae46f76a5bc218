import { z } from 'zod';
import type { SpanView, TraceView } from '../view/schemas.ts';

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
  if (found === undefined || found.spans.length === 0) return null;
  const { traceID, processes } = found;
  const spans = orderSpans(found.spans.map((span) => viewSpan(span, processes[span.processID]?.serviceName ?? '')));
  const startedAt = Math.min(...spans.map((span) => span.startedAt));
  const endedAt = Math.max(...spans.map((span) => span.startedAt + span.durationMs));
  const attribute = (name: string) => found.spans.map((span) => tagOf(span, name)).find((value) => value !== undefined);
  const [cluster, namespace, name] = ['k8s.cluster.uid', 'k8s.namespace.name', 'k8s.service.name'].map(attribute);
  return {
    traceId: traceID,
    startedAt,
    durationMs: endedAt - startedAt,
    cause: attribute('sluice.cause') ?? null,
    service: cluster && namespace && name ? { cluster, namespace, name } : null,
    services: [...new Set(spans.map(({ service }) => service))],
    spans,
  };
}

function viewSpan(jaegerSpan: JaegerSpan, service: string): Omit<SpanView, 'depth'> {
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
    // A coalesced span has an attribute and one link to the span that continues it; that span links to each it coalesced.
    links: references
      .filter((reference) => reference !== parent)
      .map(({ traceID, spanID }) => ({
        traceId: traceID,
        spanId: spanID,
        carries: tagOf(jaegerSpan, 'sluice.coalesced') !== 'true',
      })),
  };
}

function tagOf({ tags }: JaegerSpan, name: string): string | undefined {
  const found = tags?.find(({ key }) => key === name);
  return found && String(found.value);
}

interface Node {
  readonly id: string;
  /** Null for a root span. */
  readonly parent: string | null;
  readonly startedAt: number;
}

/**
 * Orders spans depth first, siblings by start time, and adds their depth from 0. A span with an unknown parent counts as a
 * root. Spans in a cycle are included.
 */
export function orderSpans<T extends Node>(spans: readonly T[]): (T & { readonly depth: number })[] {
  const known = new Set(spans.map(({ id }) => id));
  const byParent = Map.groupBy(
    spans.toSorted((a, b) => a.startedAt - b.startedAt),
    ({ parent }) => (parent !== null && known.has(parent) ? parent : null),
  );
  const ordered: (T & { readonly depth: number })[] = [];
  const placed = new Set<T>();
  const place = (roots: readonly T[]) => {
    const stack = roots.map((span) => ({ span, depth: 0 })).reverse();
    for (let next = stack.pop(); next !== undefined; next = stack.pop()) {
      const { span, depth } = next;
      if (placed.has(span)) continue;
      placed.add(span);
      ordered.push({ ...span, depth });
      const children = byParent.get(span.id) ?? [];
      stack.push(...children.map((child) => ({ span: child, depth: depth + 1 })).reverse());
    }
  };
  place(byParent.get(null) ?? []);
  for (const span of spans) if (!placed.has(span)) place([span]);
  return ordered;
}
