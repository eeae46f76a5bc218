/** Formats errors as Go's aggregate: one as is, several distinct ones as `[a, b]`, none as null (E13). */
export function aggregateText(texts: readonly string[]): string | null {
  const distinct = [...new Set(texts)];
  if (distinct.length < 2) return distinct[0] ?? null;
  return `[${distinct.join(', ')}]`;
}
