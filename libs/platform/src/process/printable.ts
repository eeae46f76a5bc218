import { oneLine } from '../index.ts';

/** Control characters, and format characters that reorder or break lines; a terminal would interpret them. */
const unprintable = /[[\p{Cc}\p{Bidi_Control}\u2028\u2029]--[\n\t]]/gv;

/**
 * Escapes what a terminal would interpret. Within a string of JSON, or a quoted one of YAML, the escapes are those of the
 * format, so JSON stays valid and keeps its value.
 */
export function printable(text: string): string {
  return text.replaceAll(unprintable, escaped);
}

/** As `printable`, on one line: text from elsewhere cannot add lines to a table or log. */
export function printableLine(text: string): string {
  return oneLine(printable(text));
}

/** The only codes of a terminal that the program prints as text: colors, bold and dim. */
const color = /\[(?:[0-2]|22|3[0-79])m/y;

/** As `printable`, but keeps colors. */
export function printableInColor(text: string): string {
  return text.replaceAll(unprintable, (character, offset: number) => {
    color.lastIndex = offset + 1;
    return character === '\u001b' && color.test(text) ? character : escaped(character);
  });
}

const escaped = (character: string): string => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
