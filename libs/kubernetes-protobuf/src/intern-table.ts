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
