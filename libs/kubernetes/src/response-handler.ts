import type { Dispatcher } from 'undici';
import { ChunkQueue } from './chunk-queue.ts';
import { type BeforeSend, NotSentError } from './cluster.ts';

export type ResponseHeaders = Readonly<Record<string, string | string[] | undefined>>;

interface Head {
  readonly status: number;
  readonly headers: ResponseHeaders;
}

/** A response, in chunks or read to its end. `bytes` is undefined if there are more than allowed. */
export type Response = Head & ({ readonly chunks: ChunkQueue } | { readonly bytes: Buffer | undefined });

interface ResponseHandlerOptions {
  /** Runs right before the request is written to a connection. If it throws, the connection stays open. */
  readonly beforeSend: BeforeSend | undefined;
  /** Largest body; `chunks`: any body is given in chunks as they arrive, if the request succeeds. */
  readonly body: number | 'chunks';
}

/** Largest body of an error that is read. */
const errorBytes = 256 * 1024;

/** Receives a response from undici's parser. The `request` of undici wraps each body, however small, into a stream of Node. */
export class ResponseHandler implements Dispatcher.DispatchHandler {
  readonly response: Promise<Response>;
  readonly #options: ResponseHandlerOptions;
  readonly #resolve: (response: Response) => void;
  readonly #reject: (error: unknown) => void;
  #controller: Dispatcher.DispatchController | undefined;
  #aborted: Error | undefined;
  #head: Head | undefined;
  #chunks: ChunkQueue | undefined;
  readonly #received: Buffer[] = [];
  #receivedBytes = 0;

  constructor(options: ResponseHandlerOptions) {
    this.#options = options;
    const { promise, resolve, reject } = Promise.withResolvers<Response>();
    this.response = promise;
    this.#resolve = resolve;
    this.#reject = reject;
  }

  /** Fails the request or the reading of its response, and closes the connection if it is on one. */
  abort(): void {
    if (this.#aborted !== undefined) return;
    this.#aborted = new Error('the request was aborted');
    this.#fail(this.#aborted);
    this.#controller?.abort(this.#aborted);
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    if (this.#aborted !== undefined) return controller.abort(this.#aborted);
    try {
      this.#options.beforeSend?.();
    } catch (error) {
      throw new NotSentError('the request was not sent', { cause: error });
    }
    this.#controller = controller;
  }

  onResponseStart(controller: Dispatcher.DispatchController, status: number, headers: ResponseHeaders): void {
    // Informational responses precede the response.
    if (status < 200) return;
    this.#head = { status, headers };
    if (this.#options.body !== 'chunks' || status >= 300) return;
    this.#chunks = new ChunkQueue(controller);
    this.#resolve({ ...this.#head, chunks: this.#chunks });
  }

  onResponseData(controller: Dispatcher.DispatchController, chunk: Buffer): void {
    if (this.#chunks !== undefined) return this.#chunks.push(chunk);
    this.#received.push(chunk);
    this.#receivedBytes += chunk.length;
    if (this.#head === undefined || this.#receivedBytes <= this.#maxBytes(this.#head)) return;
    this.#resolve({ ...this.#head, bytes: undefined });
    controller.abort(new Error('the response is too large'));
  }

  onResponseEnd(): void {
    if (this.#chunks !== undefined) return this.#chunks.complete();
    const [first, ...others] = this.#received;
    const bytes = first === undefined || others.length > 0 ? Buffer.concat(this.#received) : first;
    if (this.#head !== undefined) this.#resolve({ ...this.#head, bytes });
  }

  onResponseError(_controller: unknown, error: Error): void {
    this.#fail(error);
  }

  #maxBytes({ status }: Head): number {
    const { body } = this.#options;
    return body === 'chunks' || status >= 300 ? errorBytes : body;
  }

  #fail(error: unknown): void {
    if (this.#chunks !== undefined) this.#chunks.fail(error);
    else this.#reject(error);
  }
}
