/** Writes a protobuf message from end to beginning, so the length of a nested message is known when its prefix is written. */
export class WireWriter {
  #bytes = Buffer.allocUnsafe(16 * 1024);
  #start = this.#bytes.length;

  /** Bytes written so far. */
  get length(): number {
    return this.#bytes.length - this.#start;
  }

  /** Returns the written bytes and clears the writer. */
  take(): Buffer {
    const taken = Buffer.from(this.#bytes.subarray(this.#start));
    this.#start = this.#bytes.length;
    return taken;
  }

  /** Writes a varint; a negative number as 64-bit two's complement. */
  integer(value: number): void {
    this.#reserve(10);
    if (value >= 0 && value < 0x80) this.#bytes[--this.#start] = value;
    else this.#groups(value);
  }

  #groups(value: number): void {
    const groups: number[] = [];
    let rest = BigInt.asUintN(64, BigInt(value));
    do {
      groups.push(Number(rest & 0x7fn));
      rest >>= 7n;
    } while (rest > 0n);
    for (let i = groups.length - 1; i >= 0; i--) {
      const isLast = i === groups.length - 1;
      this.#bytes[--this.#start] = (groups[i] as number) | (isLast ? 0 : 0x80);
    }
  }

  /** Writes a string without its length. */
  text(text: string): void {
    const { length } = text;
    this.#reserve(3 * length);
    const start = this.#start - length;
    if (length > 64 || !this.#ascii(text, start)) this.#utf8(text);
    else this.#start = start;
  }

  bytes(bytes: Uint8Array): void {
    this.#reserve(bytes.length);
    this.#start -= bytes.length;
    this.#bytes.set(bytes, this.#start);
  }

  /** Returns false, and writes nothing, if the text is not ASCII. */
  #ascii(text: string, start: number): boolean {
    for (let i = 0; i < text.length; i++) {
      const code = text.charCodeAt(i);
      if (code >= 0x80) return false;
      this.#bytes[start + i] = code;
    }
    return true;
  }

  #utf8(text: string): void {
    this.#start -= Buffer.byteLength(text);
    this.#bytes.write(text, this.#start);
  }

  #reserve(bytes: number): void {
    if (this.#start >= bytes) return;
    const { length } = this;
    const larger = Buffer.allocUnsafe(Math.max(2 * this.#bytes.length, length + bytes));
    this.#bytes.copy(larger, larger.length - length, this.#start);
    this.#bytes = larger;
    this.#start = larger.length - length;
  }
}
