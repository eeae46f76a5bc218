import type { Clock } from '@sluice/runtime';
import { ApiError, isApiError } from '../api-error.ts';
import { bothBeforeSend } from '../before-send.ts';
import type { ClusterReader } from '../cluster.ts';
import type { ClusterRequest, WatchStream } from '../cluster-request.ts';
import { type Middleware, mapWatch } from '../middleware.ts';

export interface IdentityGuardOptions {
  /** The expected identity, verified just before. */
  readonly identity: string;
  readonly cluster: Pick<ClusterReader, 'identity'>;
  readonly clock: Clock;
  /** Another cluster answers at this address. */
  readonly onReplaced: (identity: string) => void;
}

/** Writes check the identity again after this time. */
const recheckMs = 30_000;

/**
 * Rejects requests once another cluster answers at the same address, so that a recreated cluster does not get the writes of
 * its predecessor. It checks the identity before each list and watch, and before a write or read of one object if a request
 * has failed without an answer, or 30 s have passed: when it is queued, and again right before it is sent. One guard serves the chains of a cluster's reader and writer.
 */
export class IdentityGuard {
  readonly #options: IdentityGuardOptions;
  #replaced = false;
  #checkedAt: number;
  #check: Promise<void> | undefined;

  constructor(options: IdentityGuardOptions) {
    this.#options = options;
    this.#checkedAt = options.clock.monotonic();
  }

  readonly middleware: Middleware = async (request, next) => {
    if (request.verb === 'identity') return next(request);
    if (this.#mustCheck(request)) await this.#verify(request.signal);
    const response = await this.#observe(() => next(this.#checkedBeforeSend(request)));
    return mapWatch(request, response, (stream) => this.#observeStream(stream));
  };

  /** A request may wait for a connection or a credential. The next attempt reads the identity. */
  #checkedBeforeSend<R extends ClusterRequest>(request: R): R {
    if (!('beforeSend' in request)) return request;
    const assertVerified = () => {
      if (this.#mustCheck(request)) throw notVerified();
    };
    return { ...request, beforeSend: bothBeforeSend(request.beforeSend, assertVerified) };
  }

  #mustCheck(request: ClusterRequest): boolean {
    if (request.verb === 'watch') return true;
    if (request.verb === 'list') return request.options.continueToken === '';
    return this.#replaced || this.#options.clock.monotonic() - this.#checkedAt > recheckMs;
  }

  async #observe<T>(send: () => Promise<T>): Promise<T> {
    try {
      return await send();
    } catch (error) {
      this.#invalidate(error);
      throw error;
    }
  }

  async *#observeStream(stream: WatchStream): WatchStream {
    try {
      yield* stream;
    } catch (error) {
      this.#invalidate(error);
      throw error;
    }
  }

  /** After no answer, or an answer that rejects the credentials, another cluster may answer next. */
  #invalidate(error: unknown): void {
    if (isApiError(error) && (error.status === 0 || error.status === 401)) {
      this.#checkedAt = Number.NEGATIVE_INFINITY;
    }
  }

  #verify(signal: AbortSignal): Promise<void> {
    if (this.#replaced) return Promise.reject(this.#error());
    this.#check ??= this.#readIdentity(signal).finally(() => {
      this.#check = undefined;
    });
    return this.#check;
  }

  async #readIdentity(signal: AbortSignal): Promise<void> {
    const { cluster, identity, clock, onReplaced } = this.#options;
    const found = await this.#observe(() => cluster.identity(signal));
    if (found === identity) {
      this.#checkedAt = clock.monotonic();
      return;
    }
    this.#replaced = true;
    onReplaced(found);
    throw this.#error();
  }

  #error(): ApiError {
    const message = `another cluster answers at the address of cluster ${this.#options.identity}; the request was not sent`;
    return new ApiError(message, { kind: 'terminal', status: 0, reason: 'ClusterReplaced' });
  }
}

const notVerified = (): ApiError =>
  new ApiError('not sent; another cluster may answer at this address by now', {
    ...{ kind: 'retry', status: 503, reason: 'IdentityNotVerified' },
  });
