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
