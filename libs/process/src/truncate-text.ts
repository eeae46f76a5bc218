import { stripVTControlCharacters } from 'node:util';

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
