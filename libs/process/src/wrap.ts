/** Breaks text between words into lines of at most `width` characters. Longer words stay whole, so that they can be copied. */
export function wrap(text: string, width: number): readonly string[] {
  const lines: string[] = [];
  for (const word of text.trim().split(/\s+/)) {
    const last = lines.at(-1);
    if (last !== undefined && last.length + 1 + word.length <= width) lines[lines.length - 1] = `${last} ${word}`;
    else lines.push(word);
  }
  return lines;
}

/** Columns of a terminal, at least 60; no limit for a pipe or file. */
export function columnsOf(stream: { readonly isTTY?: boolean; readonly columns?: number }): number {
  return stream.isTTY === true ? Math.max(60, stream.columns ?? 80) : Number.POSITIVE_INFINITY;
}
