const newline = 0x0a;

/**
 * Cuts a stream of bytes into lines. Works on bytes, since a chunk may end within a UTF-8 character; no byte of a longer
 * character equals a line break. A line beyond `maxLineBytes` is dropped and counted, so that a broken server cannot
 * fill the memory.
 */
export class LineSplitter {
  readonly #maxLineBytes: number;
  #pending: Buffer[] = [];
  #pendingBytes = 0;
  #dropping = false;
  #dropped = 0;

  constructor(maxLineBytes = 32 * 1024 * 1024) {
    this.#maxLineBytes = maxLineBytes;
  }

  /** Lines that were too long, so far. */
  get dropped(): number {
    return this.#dropped;
  }

  /** The lines that end in this chunk, without their line breaks and without empty ones. */
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
