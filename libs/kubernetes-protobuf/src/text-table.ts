const slots = 1 << 13;
const longest = 64;

/**
 * Decodes bytes into strings and interns short ones in a table of fixed size: names, UIDs and addresses recur in a Pod,
 * its slice and its Endpoints, and are then held in memory once.
 */
export class TextTable {
  readonly #texts: string[] = new Array<string>(slots).fill('');

  /** Decodes the UTF-8 bytes from `start` up to, excluding, `end`. */
  read(bytes: Buffer, start: number, end: number): string {
    if (start === end) return '';
    if (end - start > longest) return bytes.toString('utf8', start, end);
    let hash = end - start;
    for (let i = start; i < end; i++) hash = (Math.imul(hash, 31) + (bytes[i] as number)) | 0;
    const slot = (hash ^ (hash >>> 15)) & (slots - 1);
    const known = this.#texts[slot] as string;
    if (isText(known, bytes, start, end)) return known;
    const text = bytes.toString('utf8', start, end);
    this.#texts[slot] = text;
    return text;
  }
}

/** Only ASCII compares byte by byte; other strings are decoded each time. */
function isText(text: string, bytes: Buffer, start: number, end: number): boolean {
  const { length } = text;
  if (length !== end - start) return false;
  for (let i = 0; i < length; i++) {
    const byte = bytes[start + i] as number;
    if (byte !== text.charCodeAt(i) || byte >= 0x80) return false;
  }
  return true;
}
