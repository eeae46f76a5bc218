import type { TextTable } from './text-table.ts';

/** The bytes are not a protobuf message. */
export class MalformedProtobufError extends Error {
  override readonly name = 'MalformedProtobufError';
}

/** Reads the values of a protobuf message in order. Reading past the end throws MalformedProtobufError. */
export class WireReader {
  readonly bytes: Buffer;
  position: number;
  readonly #texts: TextTable;

  constructor(bytes: Buffer, texts: TextTable) {
    this.bytes = bytes;
    this.position = 0;
    this.#texts = texts;
  }

  /** Reads a varint; 64-bit values are exact up to 2^53. */
  integer(): number {
    const { bytes } = this;
    let low = 0;
    let position = this.position;
    for (let shift = 0; shift < 28; shift += 7) {
      const byte = bytes[position++];
      if (byte === undefined) throw new MalformedProtobufError('truncated number');
      low |= (byte & 0x7f) << shift;
      if (byte < 0x80) {
        this.position = position;
        return low;
      }
    }
    this.position = position;
    return this.#large(low);
  }

  #large(low: number): number {
    // 64-bit two's complement in groups of seven bits; the bits above 28 exceed 32-bit arithmetic.
    let high = 0;
    for (let factor = 1; factor <= 2 ** 35; factor *= 128) {
      const byte = this.bytes[this.position++];
      if (byte === undefined) throw new MalformedProtobufError('truncated number');
      high += (byte & 0x7f) * factor;
      if (byte < 0x80) {
        const isNegative = high >= 2 ** 35;
        return (isNegative ? high - 2 ** 36 : high) * 2 ** 28 + low;
      }
    }
    throw new MalformedProtobufError('a number has more than ten bytes');
  }

  /** Reads a length, which is checked against the remaining bytes. */
  length(): number {
    const length = this.integer();
    if (length < 0 || this.position + length > this.bytes.length) throw new MalformedProtobufError('truncated value');
    return length;
  }

  text(): string {
    const length = this.length();
    const start = this.position;
    this.position += length;
    return this.#texts.read(this.bytes, start, this.position);
  }

  /** Returns the bytes of a nested message without copying them. */
  slice(): Buffer {
    const length = this.length();
    const start = this.position;
    this.position += length;
    return this.bytes.subarray(start, this.position);
  }

  skip(wireType: number): void {
    if (wireType === 0) this.integer();
    else if (wireType === 1) this.#step(8);
    else if (wireType === 2) this.#step(this.length());
    else if (wireType === 5) this.#step(4);
    else throw new MalformedProtobufError(`unknown wire type ${wireType}`);
  }

  #step(bytes: number): void {
    this.position += bytes;
    if (this.position > this.bytes.length) throw new MalformedProtobufError('truncated value');
  }
}
