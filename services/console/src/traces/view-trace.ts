import type { SpanView, TraceView } from '../view/schemas.ts';
import { timeSpent } from './time-spent.ts';

/** A span of any source. */
export interface ViewedSpan extends Omit<SpanView, 'depth' | 'links'> {
  readonly links: readonly { readonly traceId: string; readonly spanId: string }[];
}

/** A trace with its spans in order; null if it has none. */
export function viewTrace(traceId: string, found: readonly ViewedSpan[]): TraceView | null {
  if (found.length === 0) return null;
  const spans = orderSpans(found.map(viewLinks));
  const startedAt = Math.min(...spans.map((span) => span.startedAt));
  const endedAt = Math.max(...spans.map((span) => span.startedAt + span.durationMs));
  const attribute = (name: string) => found.map((span) => attributeOf(span, name)).find((value) => value !== undefined);
  const [cluster, namespace, name] = ['k8s.cluster.uid', 'k8s.namespace.name', 'k8s.service.name'].map(attribute);
  return {
    traceId,
    startedAt,
    durationMs: endedAt - startedAt,
    cause: attribute('sluice.cause') ?? null,
    service: cluster && namespace && name ? { cluster, namespace, name } : null,
    services: [...new Set(spans.map(({ service }) => service))],
    spent: timeSpent(spans),
    spans,
  };
}

/** A coalesced span has an attribute and one link to the span that continues it; that span links to each it coalesced. */
function viewLinks(span: ViewedSpan): Omit<SpanView, 'depth'> {
  const carries = attributeOf(span, 'sluice.coalesced') !== 'true';
  return { ...span, links: span.links.map((link) => ({ ...link, carries })) };
}

const attributeOf = ({ attributes }: ViewedSpan, wanted: string): string | undefined =>
  attributes.find(({ name }) => name === wanted)?.value;

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
