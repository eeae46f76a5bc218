interface Node {
  readonly id: string;
  /** Null: the trace begins with it. */
  readonly parent: string | null;
  readonly startedAt: number;
}

/**
 * Spans each below its parent, siblings in the order of their beginning, with their depth from 0. One whose parent is not
 * among them stands where the trace begins; none is left out, not even where somebody says that it is its own parent.
 */
export function inTreeOrder<T extends Node>(spans: readonly T[]): (T & { readonly depth: number })[] {
  const known = new Set(spans.map(({ id }) => id));
  const byParent = Map.groupBy(
    spans.toSorted((a, b) => a.startedAt - b.startedAt),
    ({ parent }) => (parent !== null && known.has(parent) ? parent : null),
  );
  const ordered: (T & { readonly depth: number })[] = [];
  const placed = new Set<T>();
  const place = (begin: readonly T[]) => {
    const waiting = begin.map((span) => ({ span, depth: 0 })).reverse();
    for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
      const { span, depth } = next;
      if (placed.has(span)) continue;
      placed.add(span);
      ordered.push({ ...span, depth });
      const children = byParent.get(span.id) ?? [];
      waiting.push(...children.map((child) => ({ span: child, depth: depth + 1 })).reverse());
    }
  };
  place(byParent.get(null) ?? []);
  for (const span of spans) if (!placed.has(span)) place([span]);
  return ordered;
}
