import { stripVTControlCharacters } from 'node:util';

/**
 * Breaks text between words into lines of at most `width` visible characters. Longer words stay whole, so that they can be
 * copied.
 */
export function wrap(text: string, width: number): readonly string[] {
  const lines: string[] = [];
  for (const word of text.trim().split(/\s+/)) {
    const last = lines.at(-1);
    if (last !== undefined && visibleLength(last) + 1 + visibleLength(word) <= width)
      lines[lines.length - 1] = `${last} ${word}`;
    else lines.push(word);
  }
  return lines;
}

/** Wraps each line of the text that is too long; what continues a line has its indent. */
export function wrapLines(text: string, width: number): string {
  return text
    .split('\n')
    .flatMap((line) => {
      if (visibleLength(line) <= width) return [line];
      const indent = /^ */.exec(line)?.[0] ?? '';
      return wrap(line, width - indent.length).map((one) => `${indent}${one}`);
    })
    .join('\n');
}

const visibleLength = (text: string): number => stripVTControlCharacters(text).length;

/** Columns of a terminal, at least 60; no limit for a pipe or file. */
export function columnsOf(stream: { readonly isTTY?: boolean; readonly columns?: number }): number {
  return stream.isTTY === true ? Math.max(60, stream.columns ?? 80) : Number.POSITIVE_INFINITY;
}
