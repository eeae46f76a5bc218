import {
  type AppendedOffsets,
  type BusRecord,
  ForwardingBus,
  type PartitionReader,
  type StreamOffset,
  type Topic,
} from '@sluice/bus';
import {
  ApiError,
  type ApiRequest,
  type ApiResponse,
  type Connection,
  type Middleware,
  mapWatch,
  type WatchStream,
} from '@sluice/kubernetes';
import { aborted } from '@sluice/platform';

/** `refuse`: connections break and are refused. `swallow`: bytes are dropped silently, so nothing ever answers. */
export type Severing = 'refuse' | 'swallow';

/** The link of one process to an API server. */
export class SeveredLink {
  #how: Severing | undefined;
  #severed = new AbortController();

  sever(how: Severing): void {
    this.#how = how;
    this.#severed.abort();
  }

  heal(): void {
    this.#how = undefined;
    this.#severed = new AbortController();
  }

  readonly middleware: Middleware = async (request, next) => {
    await this.#pass(request.signal);
    const response = await next(request);
    await this.#pass(request.signal);
    return mapWatch(request, response, (stream) => this.#watch(stream, request.signal));
  };

  connection(client: Pick<Connection, 'request'>): Connection {
    const request = async (sent: ApiRequest): Promise<ApiResponse> => {
      await this.#pass(sent.signal);
      return client.request(sent);
    };
    return { request } as Connection;
  }

  async *#watch(stream: WatchStream, signal: AbortSignal): WatchStream {
    const severed = this.#severed.signal;
    const events = stream[Symbol.asyncIterator]();
    for (;;) {
      const batch = await Promise.race([events.next(), aborted(severed)]);
      if (severed.aborted) await this.#fail(signal);
      if (batch === undefined || batch.done === true) return;
      yield batch.value;
    }
  }

  async #pass(signal: AbortSignal): Promise<void> {
    if (this.#how !== undefined) await this.#fail(signal);
  }

  async #fail(signal: AbortSignal): Promise<never> {
    if (this.#how === 'swallow') await aborted(signal);
    throw new ApiError('connection refused', { kind: 'retry', status: 0, reason: 'ECONNREFUSED' });
  }
}

/** A bus whose connection stays up while nothing is answered: a server that has lost its quorum, for example. */
export class SilentBus extends ForwardingBus {
  #answers: Promise<unknown> = Promise.resolve();
  #resume: () => void = () => {};

  fallSilent(): void {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#answers = promise;
    this.#resume = resolve;
  }

  recover(): void {
    this.#answers = Promise.resolve();
    this.#resume();
  }

  override get connected(): boolean {
    return true;
  }

  override async append(topic: Topic, partition: number, records: readonly BusRecord[]): Promise<AppendedOffsets> {
    await this.#answers;
    return this.inner.append(topic, partition, records);
  }

  override deliver(): undefined {
    return undefined;
  }

  override async end(topic: Topic, partition: number): Promise<StreamOffset> {
    await this.#answers;
    return this.inner.end(topic, partition);
  }

  override read(topic: Topic, partition: number, after: StreamOffset): PartitionReader {
    const reader = this.inner.read(topic, partition, after);
    const closed = Promise.withResolvers<readonly never[]>();
    return {
      get streamId() {
        return reader.streamId;
      },
      next: async (max) => {
        const records = await reader.next(max);
        return Promise.race([this.#answers.then(() => records), closed.promise]);
      },
      release: (offset) => reader.release(offset),
      close: () => {
        closed.resolve([]);
        reader.close();
      },
    };
  }
}
