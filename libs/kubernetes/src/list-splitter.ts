const quote = 0x22;
const comma = 0x2c;
const openBracket = 0x5b;
const backslash = 0x5c;
const closeBracket = 0x5d;
const openBrace = 0x7b;
const closeBrace = 0x7d;

/** The stream is not a valid list. */
export class MalformedListError extends Error {
  override readonly name = 'MalformedListError';
}

interface ListSplitterOptions {
  /** The JSON text of one element of `items`. */
  readonly onItem: (text: string) => void;
  /** The JSON text of one other member of the list, e.g. `"kind":"PodList"`. */
  readonly onMember: (text: string) => void;
  /** A longer item or member is an error, to bound memory. */
  readonly maxBytes?: number;
}

/**
 * Splits a Kubernetes list into items while its bytes arrive, so that only one item is held at a time. It tracks
 * brackets and strings; the items themselves are parsed by the caller.
 */
export class ListSplitter {
  readonly #options: ListSplitterOptions;
  readonly #maxBytes: number;
  #depth = 0;
  /** Depth at which a comma ends the current element: 2 within `items`, otherwise 1. */
  #level: 1 | 2 = 1;
  #inString = false;
  #escaped = false;
  #gathered: Buffer[] = [];
  #gatheredBytes = 0;
  #ended = false;
  #hasItems = false;

  constructor(options: ListSplitterOptions) {
    this.#options = options;
    this.#maxBytes = options.maxBytes ?? 8 * 1024 * 1024;
  }

  /** Whether the list has an array `items`. */
  get hasItems(): boolean {
    return this.#hasItems;
  }

  /** Throws MalformedListError and the errors of the callbacks. */
  push(chunk: Buffer): void {
    let start = 0;
    for (let i = 0; i < chunk.length; i++) {
      if (this.#inString) {
        i = this.#skipString(chunk, i);
        continue;
      }
      const byte = chunk[i];
      if (byte === quote) this.#inString = true;
      else if (byte === comma) {
        if (this.#depth !== this.#level) continue;
        this.#end(chunk.subarray(start, i));
        start = i + 1;
      } else if (byte === openBrace || byte === openBracket) {
        if (this.#depth === 0) this.#begin(byte, chunk.subarray(start, i));
        else if (byte === openBracket && this.#depth === 1 && this.#isItems(chunk.subarray(start, i))) {
          this.#level = 2;
          this.#hasItems = true;
        } else {
          this.#depth++;
          continue;
        }
        this.#depth++;
        this.#gathered = [];
        this.#gatheredBytes = 0;
        start = i + 1;
      } else if (byte === closeBrace || byte === closeBracket) {
        if (this.#depth === this.#level) {
          this.#end(chunk.subarray(start, i));
          start = i + 1;
          this.#level = 1;
          if (this.#depth === 1) this.#ended = true;
        }
        this.#depth--;
      }
    }
    if (start < chunk.length) this.#gather(chunk.subarray(start));
  }

  /** Throws MalformedListError if the list is incomplete. */
  end(): void {
    if (!this.#ended) throw new MalformedListError('the response ended early');
  }

  /** Index of the last byte of the chunk that belongs to the string. */
  #skipString(chunk: Buffer, from: number): number {
    let i = from;
    if (this.#escaped) {
      this.#escaped = false;
      i++;
    }
    for (; i < chunk.length; i++) {
      const byte = chunk[i];
      if (byte === quote) {
        this.#inString = false;
        return i;
      }
      if (byte === backslash) i++;
    }
    // The chunk may end within an escape; the escaped byte is then the first of the next chunk.
    this.#escaped = i > chunk.length;
    return i;
  }

  #begin(byte: number, before: Buffer): void {
    if (byte !== openBrace || this.#ended || this.#text(before).trim() !== '')
      throw new MalformedListError('the response is not an object');
  }

  #isItems(last: Buffer): boolean {
    // Most arrays are nested or in another member; their length excludes them.
    if (this.#gatheredBytes + last.length > 256) return false;
    return /^\s*"items"\s*:\s*$/.test(this.#text(last));
  }

  #end(last: Buffer): void {
    const text = this.#text(last);
    this.#gathered = [];
    this.#gatheredBytes = 0;
    if (text.trim() === '') return;
    if (this.#level === 2) this.#options.onItem(text);
    else this.#options.onMember(text);
  }

  #gather(bytes: Buffer): void {
    this.#gathered.push(bytes);
    this.#gatheredBytes += bytes.length;
    if (this.#depth === 0 && this.#text(Buffer.alloc(0)).trim() !== '')
      throw new MalformedListError('the response is not an object');
    if (this.#gatheredBytes > this.#maxBytes)
      throw new MalformedListError(`an item is larger than ${this.#maxBytes} bytes`);
  }

  #text(last: Buffer): string {
    if (this.#gatheredBytes === 0) return last.toString('utf8');
    return Buffer.concat([...this.#gathered, last], this.#gatheredBytes + last.length).toString('utf8');
  }
}
