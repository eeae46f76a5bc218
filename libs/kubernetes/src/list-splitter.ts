const quote = 0x22;
const comma = 0x2c;
const openBracket = 0x5b;
const backslash = 0x5c;
const closeBracket = 0x5d;
const openBrace = 0x7b;
const closeBrace = 0x7d;

/** What a stream of bytes turned out not to be. */
export class MalformedListError extends Error {
  override readonly name = 'MalformedListError';
}

export interface ListSplitterOptions {
  /** The JSON text of one element of `items`. */
  readonly onItem: (text: string) => void;
  /** The JSON text of one other member of the list, e.g. `"kind":"PodList"`. */
  readonly onMember: (text: string) => void;
  /** An item or member beyond this is an error, so that a broken server cannot fill the memory. */
  readonly maxBytes?: number;
}

/**
 * Takes a list of Kubernetes apart while its bytes arrive: one item at a time, so that no more than one is held,
 * however long the list is and however large its pages are. Counts brackets; what is between them is the parser's.
 */
export class ListSplitter {
  readonly #options: ListSplitterOptions;
  readonly #maxBytes: number;
  #depth = 0;
  /** The depth at which a comma ends what is being gathered: 2 within `items`, else 1. */
  #level: 1 | 2 = 1;
  #inString = false;
  #escaped = false;
  #gathered: Buffer[] = [];
  #gatheredBytes = 0;
  #ended = false;
  #hasItems = false;

  constructor(options: ListSplitterOptions) {
    this.#options = options;
    this.#maxBytes = options.maxBytes ?? 32 * 1024 * 1024;
  }

  /** `items` is there, and an array. */
  get hasItems(): boolean {
    return this.#hasItems;
  }

  /** Throws MalformedListError, and what the callbacks throw. */
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

  /** Throws MalformedListError if more should have come. */
  end(): void {
    if (!this.#ended) throw new MalformedListError('it ended early');
  }

  /** The index of the last byte of the chunk that belongs to the string. */
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
    // The chunk may end within an escape; the byte that it escapes then begins the next one.
    this.#escaped = i > chunk.length;
    return i;
  }

  #begin(byte: number, before: Buffer): void {
    if (byte !== openBrace || this.#ended || this.#text(before).trim() !== '')
      throw new MalformedListError('it is not an object');
  }

  #isItems(last: Buffer): boolean {
    // Nearly every array is deeper down or in another member: the length tells most of them.
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
      throw new MalformedListError('it is not an object');
    if (this.#gatheredBytes > this.#maxBytes)
      throw new MalformedListError(`one of its items is larger than ${this.#maxBytes} bytes`);
  }

  #text(last: Buffer): string {
    if (this.#gatheredBytes === 0) return last.toString('utf8');
    return Buffer.concat([...this.#gathered, last], this.#gatheredBytes + last.length).toString('utf8');
  }
}
