const headBytes = 4;

/**
 * Splits a stream of bytes into frames, each prefixed by its length in four bytes. A frame longer than `maxBytes` is
 * dropped and counted, so a broken server cannot exhaust memory. The default is above etcd's largest practical object.
 */
export class FrameSplitter {
  readonly #maxBytes: number;
  #pending: Buffer[] = [];
  #pendingBytes = 0;
  /** Bytes still to come of a frame that is dropped. */
  #dropping = 0;
  #dropped = 0;

  constructor(maxBytes = 8 * 1024 * 1024) {
    this.#maxBytes = maxBytes;
  }

  /** Number of frames that were too long. */
  get dropped(): number {
    return this.#dropped;
  }

  /** Returns the frames that end in this chunk, without their prefixes. */
  push(chunk: Buffer): Buffer[] {
    let rest = this.#dropping === 0 ? chunk : this.#skip(chunk);
    if (this.#pendingBytes > 0) {
      this.#pending.push(rest);
      this.#pendingBytes += rest.length;
      if (!this.#mayEnd()) return [];
      rest = Buffer.concat(this.#pending);
    }
    this.#pending = [];
    this.#pendingBytes = 0;
    return this.#split(rest);
  }

  #split(bytes: Buffer): Buffer[] {
    const frames: Buffer[] = [];
    let rest = bytes;
    while (rest.length >= headBytes) {
      const end = headBytes + rest.readUInt32BE(0);
      if (end > headBytes + this.#maxBytes) {
        this.#dropped++;
        this.#dropping = end;
        rest = this.#skip(rest);
        continue;
      }
      if (end > rest.length) break;
      frames.push(rest.subarray(headBytes, end));
      rest = rest.subarray(end);
    }
    if (rest.length > 0) {
      this.#pending = [rest];
      this.#pendingBytes = rest.length;
    }
    return frames;
  }

  #skip(bytes: Buffer): Buffer {
    const skipped = Math.min(this.#dropping, bytes.length);
    this.#dropping -= skipped;
    return bytes.subarray(skipped);
  }

  /** Whether the pending bytes hold a complete frame: a large frame is concatenated once, not per chunk. */
  #mayEnd(): boolean {
    const [first] = this.#pending;
    if (first === undefined || first.length < headBytes) return true;
    return this.#pendingBytes >= headBytes + first.readUInt32BE(0);
  }
}
