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

/** Messages after which the older half is forgotten. */
const maxMessages = 16_384;
/** Longer messages are not kept, to bound memory. */
const maxBytes = 512;

/**
 * Keeps decoded messages of one type by their bytes. Most elements of an EndpointSlice or Endpoints are those of its previous
 * version: they are found here, which is cheaper than decoding them, and memory holds them once. Never change such a message.
 */
export class InternTable {
  #recent = new Map<string, object>();
  #older = new Map<string, object>();

  /** Undefined: the bytes are too long to be kept. */
  key(bytes: Buffer, start: number, end: number): string | undefined {
    return end - start > maxBytes ? undefined : bytes.toString('latin1', start, end);
  }

  get(key: string): object | undefined {
    const recent = this.#recent.get(key);
    if (recent !== undefined) return recent;
    const older = this.#older.get(key);
    if (older !== undefined) this.add(key, older);
    return older;
  }

  add(key: string, message: object): void {
    if (this.#recent.size >= maxMessages / 2) {
      this.#older = this.#recent;
      this.#recent = new Map();
    }
    this.#recent.set(key, message);
  }
}
