import { oneLine } from '@sluice/runtime';

/** Control characters, and format characters that reorder or break lines; a terminal would interpret them. */
const unprintable = /[[\p{Cc}\p{Bidi_Control}\u2028\u2029]--[\n\t]]/gv;

/** Escapes what a terminal would interpret. Text from API servers and messages passes through here before it is printed. */
export function printable(text: string): string {
  return text.replaceAll(unprintable, (character) => {
    const code = character.charCodeAt(0);
    return code <= 0xff ? `\\x${code.toString(16).padStart(2, '0')}` : `\\u${code.toString(16).padStart(4, '0')}`;
  });
}

/** As `printable`, on one line: text from elsewhere cannot add lines to a table or log. */
export function printableLine(text: string): string {
  return oneLine(printable(text));
}
