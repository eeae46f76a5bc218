const slots = 1 << 13;
const longest = 64;

/**
 * Turns bytes into texts, and the same bytes into the same text while it is remembered: names, UIDs and addresses come
 * again and again, in a Pod, in its slice and in its Endpoints, and are then held once.
 */
export class TextTable {
  readonly #texts: string[] = new Array<string>(slots).fill('');

  /** The UTF-8 text from `start` to before `end`. */
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

/** Only ASCII compares byte by byte; other texts are made anew each time. */
function isText(text: string, bytes: Buffer, start: number, end: number): boolean {
  const { length } = text;
  if (length !== end - start) return false;
  for (let i = 0; i < length; i++) {
    const byte = bytes[start + i] as number;
    if (byte !== text.charCodeAt(i) || byte >= 0x80) return false;
  }
  return true;
}
