import type { Clock } from '@sluice/platform';
import { ApiError, isApiError } from '../api-error.ts';
import type { ClusterReader } from '../cluster.ts';
import { type ClusterRequest, type Middleware, mapWatch, type RequestCheck, type WatchStream } from '../middleware.ts';

interface IdentityGuardOptions {
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
 * its predecessor. It checks the identity before each list and watch, as middleware, and, as a check, before a write or read of one
 * object if a request has failed without an answer, or 30 s have passed. One guard serves the reader and the writer of a cluster.
 */
export class IdentityGuard implements RequestCheck {
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
    const isFirst = request.verb === 'watch' || (request.verb === 'list' && request.options.continueToken === '');
    if (isFirst || this.#isDue) await this.#verify(request.signal);
    const response = await this.#observe(() => next(request));
    return mapWatch(request, response, (stream) => this.#observeStream(stream));
  };

  verify({ signal }: ClusterRequest): Promise<void> | undefined {
    return this.#isDue ? this.#verify(signal) : undefined;
  }

  /** The next attempt reads the identity. */
  assert(): void {
    if (this.#isDue) throw notVerified();
  }

  /** After no answer, or an answer that rejects the credentials, another cluster may answer next. */
  failed(error: unknown): void {
    if (isApiError(error) && (error.status === 0 || error.status === 401)) {
      this.#checkedAt = Number.NEGATIVE_INFINITY;
    }
  }

  get #isDue(): boolean {
    return this.#replaced || this.#options.clock.monotonic() - this.#checkedAt > recheckMs;
  }

  async #observe<T>(send: () => Promise<T>): Promise<T> {
    try {
      return await send();
    } catch (error) {
      this.failed(error);
      throw error;
    }
  }

  async *#observeStream(stream: WatchStream): WatchStream {
    try {
      yield* stream;
    } catch (error) {
      this.failed(error);
      throw error;
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
    kind: 'retry',
    status: 503,
    reason: 'IdentityNotVerified',
  });
