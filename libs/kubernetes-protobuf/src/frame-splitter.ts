const headBytes = 4;

/**
 * Cuts a stream of bytes into frames, each of which begins with its length in four bytes. A frame beyond `maxBytes` is
 * dropped and counted, so that a broken server cannot fill the memory.
 */
export class FrameSplitter {
  readonly #maxBytes: number;
  #pending: Buffer[] = [];
  #pendingBytes = 0;
  /** Bytes of a frame that is dropped which are still to come. */
  #dropping = 0;
  #dropped = 0;

  constructor(maxBytes = 32 * 1024 * 1024) {
    this.#maxBytes = maxBytes;
  }

  /** Frames that were too long, so far. */
  get dropped(): number {
    return this.#dropped;
  }

  /** The frames that end in this chunk, without their lengths. */
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

  /** Whether what is pending may hold a whole frame: a large one is put together once, not with every chunk. */
  #mayEnd(): boolean {
    const [first] = this.#pending;
    if (first === undefined || first.length < headBytes) return true;
    return this.#pendingBytes >= headBytes + first.readUInt32BE(0);
  }
}
