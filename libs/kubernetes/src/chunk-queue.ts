/** Pauses and ends what fills the queue. */
interface Source {
  pause(): void;
  resume(): void;
  abort(reason: Error): void;
}

type Next = IteratorResult<Buffer, undefined>;

/** Reading from the connection pauses while this many bytes have not been consumed. */
const maxUnreadBytes = 64 * 1024;

/** The chunks of a response, in the order in which they arrived. For one consumer, which asks for one chunk at a time. */
export class ChunkQueue implements AsyncIterableIterator<Buffer, undefined> {
  readonly #source: Source;
  readonly #chunks: Buffer[] = [];
  #unreadBytes = 0;
  /** The consumer waits for a chunk. */
  #waiting: PromiseWithResolvers<Next> | undefined;
  #end: { readonly error: unknown } | 'complete' | undefined;

  constructor(source: Source) {
    this.#source = source;
  }

  push(chunk: Buffer): void {
    if (this.#end !== undefined) return;
    if (this.#waiting !== undefined) return this.#answer({ value: chunk, done: false });
    this.#chunks.push(chunk);
    this.#unreadBytes += chunk.length;
    if (this.#unreadBytes >= maxUnreadBytes) this.#source.pause();
  }

  /** The response is complete. */
  complete(): void {
    this.#end ??= 'complete';
    this.#answer({ value: undefined, done: true });
  }

  /** Fails the iteration once the chunks received so far are consumed. */
  fail(error: unknown): void {
    this.#end ??= { error };
    this.#waiting?.reject(error);
    this.#waiting = undefined;
  }

  async next(): Promise<Next> {
    const chunk = this.#chunks.shift();
    if (chunk !== undefined) {
      this.#unreadBytes -= chunk.length;
      if (this.#unreadBytes < maxUnreadBytes) this.#source.resume();
      return { value: chunk, done: false };
    }
    if (this.#end === 'complete') return { value: undefined, done: true };
    if (this.#end !== undefined) throw this.#end.error;
    this.#waiting = Promise.withResolvers();
    return this.#waiting.promise;
  }

  /** Closes the connection unless the response is complete: without its rest, it cannot be reused. */
  async return(): Promise<Next> {
    this.#chunks.length = 0;
    if (this.#end === undefined) {
      this.#end = 'complete';
      this.#source.abort(new Error('the response was not read to its end'));
    }
    return { value: undefined, done: true };
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  #answer(next: Next): void {
    this.#waiting?.resolve(next);
    this.#waiting = undefined;
  }
}
