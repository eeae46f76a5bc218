import { z } from 'zod';
import type { SpanView, TraceView } from '../view/schemas.ts';
import { inTreeOrder } from './span-tree.ts';

/** What Jaeger's query API answers at `/api/traces/{id}`, as far as it is looked at. Times in microseconds. */
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
const answer = z.object({ data: z.array(trace).nullish() });

type JaegerSpan = z.infer<typeof span>;

/** Told by other means than a line among the attributes, or of no use to people. */
const notShown = new Set(['error', 'otel.status_code', 'otel.status_description', 'span.kind', 'internal.span.format']);

/**
 * The trace in Jaeger's answer; null if it has none.
 *
 * @throws Error if that is no answer of Jaeger's
 */
export function readJaegerTrace(body: unknown): TraceView | null {
  const read = answer.safeParse(body);
  if (!read.success) throw new Error('what answers there is no Jaeger: its answer has another form');
  const [found] = read.data.data ?? [];
  if (found === undefined || found.spans.length === 0) return null;
  const { traceID, processes } = found;
  const serviceOf = ({ processID }: JaegerSpan) => processes[processID]?.serviceName ?? '';
  const spans = inTreeOrder(found.spans.map((one) => spanView(one, serviceOf(one))));
  const startedAt = Math.min(...spans.map((one) => one.startedAt));
  const endedAt = Math.max(...spans.map((one) => one.startedAt + one.durationMs));
  const attribute = (name: string) => found.spans.map((one) => tagOf(one, name)).find((value) => value !== undefined);
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

function spanView(given: JaegerSpan, service: string): Omit<SpanView, 'depth'> {
  const { traceID, spanID, operationName, startTime, duration } = given;
  const references = given.references ?? [];
  const parent = references.find(({ refType, traceID: of }) => refType === 'CHILD_OF' && of === traceID);
  const failed = tagOf(given, 'error') === 'true';
  return {
    id: spanID,
    parent: parent?.spanID ?? null,
    service,
    name: operationName,
    startedAt: startTime / 1_000,
    durationMs: duration / 1_000,
    error: failed ? (tagOf(given, 'otel.status_description') ?? 'failed') : null,
    attributes: (given.tags ?? [])
      .filter(({ key }) => !notShown.has(key))
      .map(({ key, value }) => ({ name: key, value: String(value) })),
    // A span that is carried by another trace says so; one that carries others links back to each of them.
    links: references
      .filter((one) => one !== parent)
      .map((one) => ({
        traceId: one.traceID,
        spanId: one.spanID,
        carries: tagOf(given, 'sluice.coalesced') !== 'true',
      })),
  };
}

function tagOf({ tags }: JaegerSpan, name: string): string | undefined {
  const found = tags?.find(({ key }) => key === name);
  return found && String(found.value);
}
