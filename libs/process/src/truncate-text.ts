import { stripVTControlCharacters } from 'node:util';

const codeBegin = '\u001b';

/** Cuts to the terminal's width, colours not counted. */
export function truncate(text: string, width: number): string {
  if (stripVTControlCharacters(text).length <= width) return text;
  let cut = '';
  let visible = 0;
  for (let i = 0; i < text.length && visible < width - 1; ) {
    const colour = text[i] === codeBegin;
    const end = colour ? text.indexOf('m', i) + 1 || text.length : i + 1;
    cut += text.slice(i, end);
    if (!colour) visible++;
    i = end;
  }
  return `${cut}…${cut.includes(codeBegin) ? `${codeBegin}[0m` : ''}`;
}
