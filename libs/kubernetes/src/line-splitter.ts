const newline = 0x0a;

/**
 * Splits a byte stream into lines. It works on bytes, because a chunk may end within a UTF-8 character, and no byte of
 * a multi-byte character equals a line break. A line longer than `maxLineBytes` is dropped and counted, to bound
 * memory.
 */
export class LineSplitter {
  readonly #maxLineBytes: number;
  #pending: Buffer[] = [];
  #pendingBytes = 0;
  #dropping = false;
  #dropped = 0;

  constructor(maxLineBytes = 8 * 1024 * 1024) {
    this.#maxLineBytes = maxLineBytes;
  }

  /** Number of lines dropped so far. */
  get dropped(): number {
    return this.#dropped;
  }

  /** The lines that end in this chunk, without line breaks and empty lines. */
  push(chunk: Buffer): string[] {
    const end = chunk.lastIndexOf(newline);
    if (end < 0) {
      this.#keep(chunk);
      return [];
    }
    let whole = chunk.subarray(0, end);
    if (this.#dropping) {
      whole = whole.subarray(firstLineEnd(whole));
      this.#dropping = false;
    } else if (this.#pendingBytes > 0) {
      whole = Buffer.concat([...this.#pending, whole]);
    }
    this.#pending = [];
    this.#pendingBytes = 0;
    this.#keep(chunk.subarray(end + 1));
    return whole
      .toString('utf8')
      .split('\n')
      .filter((line) => line !== '' && line !== '\r');
  }

  #keep(rest: Buffer): void {
    if (rest.length === 0 || this.#dropping) return;
    this.#pending.push(rest);
    this.#pendingBytes += rest.length;
    if (this.#pendingBytes <= this.#maxLineBytes) return;
    this.#pending = [];
    this.#pendingBytes = 0;
    this.#dropping = true;
    this.#dropped++;
  }
}

function firstLineEnd(bytes: Buffer): number {
  const at = bytes.indexOf(newline);
  return at < 0 ? bytes.length : at + 1;
}
