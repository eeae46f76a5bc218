/** The text of several errors: one as it is, distinct ones as `[a, b]`, null for none (E13). */
export function aggregateText(texts: readonly string[]): string | null {
  const distinct = [...new Set(texts)];
  if (distinct.length < 2) return distinct[0] ?? null;
  return `[${distinct.join(', ')}]`;
}
