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

const escapeCode = '\u001b';

/** Truncates text to a number of visible characters; colour codes do not count. */
export function truncate(text: string, width: number): string {
  if (stripVTControlCharacters(text).length <= width) return text;
  let cut = '';
  let visible = 0;
  for (let i = 0; i < text.length && visible < width - 1; ) {
    const colour = text[i] === escapeCode;
    const end = colour ? text.indexOf('m', i) + 1 || text.length : i + 1;
    cut += text.slice(i, end);
    if (!colour) visible++;
    i = end;
  }
  return `${cut}…${cut.includes(escapeCode) ? `${escapeCode}[0m` : ''}`;
}

/** Truncates a name in the middle, because names differ at the end. */
export function truncateMiddle(name: string, width: number): string {
  if (name.length <= width) return name;
  const end = Math.floor((width - 1) / 2);
  return `${name.slice(0, width - 1 - end)}…${name.slice(name.length - end)}`;
}
