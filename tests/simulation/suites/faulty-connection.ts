import { ApiError, type ApiRequest, type ApiResponse } from '@sluice/kubernetes';
import { type Clock, type Random, randomInteger, sleep } from '@sluice/platform';
import { apiError } from './lease-api.ts';

/** What happens to the requests of one process. */
export interface LinkFaults {
  /** What gets lost. */
  cut: 'requests' | 'answers' | undefined;
  /** Longest latency in each direction, in milliseconds. */
  latencyMs: number;
  /** Longest time that a request waits in the process for a connection or a credential, in milliseconds. */
  waitMs: number;
  /** Probabilities. */
  fails: number;
  late: number;
  wrong: number;
}

export const noLinkFaults: Readonly<LinkFaults> = {
  ...{ cut: undefined, latencyMs: 5, waitMs: 0, fails: 0, late: 0, wrong: 0 },
};

export interface ServerConnection {
  /** Executes a request. */
  readonly handle: (request: ApiRequest) => ApiResponse;
  /** Fails if the connection was closed meanwhile, so that no answer can arrive. */
  readonly assertOpen?: () => void;
  /** The process learns that the connection was closed. */
  readonly onClosed?: () => void;
}

export class ConnectionClosedError extends ApiError {
  constructor() {
    super('injected: connection closed', { kind: 'retry', status: 0, reason: 'ECONNRESET' });
  }
}

export interface FaultyConnectionOptions {
  /** Of the process: it stands still while the process does. */
  readonly own: Clock;
  /** Of the network, and of everybody. */
  readonly clock: Clock;
  readonly random: Random;
  readonly faults: Readonly<LinkFaults>;
  /** The server at the other end of a connection that is open now. */
  readonly server: () => ServerConnection;
  /** The bytes of a request leave the process. */
  readonly onSent: (request: ApiRequest) => void;
}

const defaultTimeoutMs = 30_000;
const latestMs = 20_000;

/** The requests of a process to an API server, over a network with faults. What has left the process is executed even if it freezes. */
export class FaultyConnection {
  readonly #options: FaultyConnectionOptions;
  readonly #destroyed = new AbortController();

  constructor(options: FaultyConnectionOptions) {
    this.#options = options;
  }

  request(request: ApiRequest): Promise<ApiResponse> {
    const { own } = this.#options;
    const { promise, resolve, reject } = Promise.withResolvers<ApiResponse>();
    const signal = AbortSignal.any([request.signal, this.#destroyed.signal]);
    const fail = (reason: string) => reject(new ApiError(reason, { kind: 'retry', status: 0, reason }));
    const abort = () => fail('Aborted');
    if (signal.aborted) abort();
    signal.addEventListener('abort', abort, { once: true });
    let isOver = signal.aborted;
    const cancel = own.schedule(request.timeoutMs ?? defaultTimeoutMs, () => fail('Timeout'));
    this.#exchange(request, () => isOver).then(resolve, reject);
    return promise.finally(() => {
      isOver = true;
      cancel();
      signal.removeEventListener('abort', abort);
    });
  }

  async destroy(): Promise<void> {
    this.#destroyed.abort();
  }

  async #exchange(request: ApiRequest, isOver: () => boolean): Promise<ApiResponse> {
    const { own, clock, random, faults, onSent, server } = this.#options;
    const upTo = (ms: number) => randomInteger(random, 0, ms);
    const chance = (probability: number) => probability > 0 && random.next() < probability;
    await sleep(own, upTo(faults.waitMs));
    if (isOver()) throw new Error('not sent');
    request.beforeSend?.();
    onSent(request);
    const { handle, assertOpen, onClosed } = server();
    if (chance(faults.fails / 2))
      throw new ApiError('injected: reset', { kind: 'retry', status: 0, reason: 'ECONNRESET' });
    await sleep(clock, chance(faults.late) ? upTo(latestMs) : upTo(faults.latencyMs));
    if (faults.cut === 'requests') return new Promise(() => {});
    const answer = await answerOf(() => {
      if (chance(faults.fails / 2)) throw apiError(random.next() < 0.5 ? 500 : 429, 'InternalError');
      return handle(request);
    });
    await sleep(clock, chance(faults.late) ? upTo(latestMs) : upTo(faults.latencyMs));
    if (faults.cut === 'answers') return new Promise(() => {});
    const arrived = await answerOf(() => {
      assertOpen?.();
      return answer();
    });
    // A process that stands still gets it later.
    await sleep(own, 0);
    if (chance(faults.wrong)) throw random.next() < 0.5 ? apiError(404, '') : apiError(409, 'Conflict', 'conflict');
    try {
      return arrived();
    } catch (error) {
      if (error instanceof ConnectionClosedError && !isOver()) onClosed?.();
      throw error;
    }
  }
}

/** The answer, or the error with which it is thrown once it has arrived. */
async function answerOf(execute: () => ApiResponse): Promise<() => ApiResponse> {
  try {
    const answer = execute();
    return () => answer;
  } catch (error) {
    return () => {
      throw error;
    };
  }
}
