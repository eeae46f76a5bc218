import { ApiError, type ClusterReader, type ClusterWriter, isApiError } from '@sluice/kubernetes';
import type { Clock } from '@sluice/runtime';

export interface GuardOptions {
  readonly identity: string;
  readonly cluster: ClusterReader & ClusterWriter;
  readonly clock: Clock;
  /** Behind the address is another cluster now. */
  readonly onReplaced: (identity: string) => void;
}

/** After which what answers is asked again who it is, in milliseconds. */
const trustMs = 30_000;

/**
 * Makes sure that it is still the same cluster that answers: before each list and each watch, and before a write if a
 * request has failed since, or some time has passed. A cluster that was made anew under the same address has another
 * identity, and gets nothing that was meant for the one before.
 */
export class GuardedCluster implements ClusterReader, ClusterWriter {
  readonly #options: GuardOptions;
  #replaced = false;
  #verifiedAt: number;
  #verifying: Promise<void> | undefined;

  /** Of a cluster that has just been asked who it is. */
  constructor(options: GuardOptions) {
    this.#options = options;
    this.#verifiedAt = options.clock.monotonic();
  }

  identity(signal: AbortSignal): Promise<string> {
    return this.#options.cluster.identity(signal);
  }

  async list(...args: Parameters<ClusterReader['list']>): ReturnType<ClusterReader['list']> {
    if (args[1].continueToken === '') await this.#verify(args[2]);
    return this.#watched(() => this.#options.cluster.list(...args));
  }

  async *watch(...args: Parameters<ClusterReader['watch']>): ReturnType<ClusterReader['watch']> {
    await this.#verify(args[2]);
    try {
      yield* this.#options.cluster.watch(...args);
    } catch (error) {
      this.#doubt(error);
      throw error;
    }
  }

  get: ClusterWriter['get'] = (...args) => this.#write(args[3], () => this.#options.cluster.get(...args));
  create: ClusterWriter['create'] = (...args) => this.#write(args[2], () => this.#options.cluster.create(...args));
  update: ClusterWriter['update'] = (...args) => this.#write(args[2], () => this.#options.cluster.update(...args));
  delete: ClusterWriter['delete'] = (...args) => this.#write(args[4], () => this.#options.cluster.delete(...args));

  async #write<T>(signal: AbortSignal, send: () => Promise<T>): Promise<T> {
    if (this.#replaced || this.#options.clock.monotonic() - this.#verifiedAt > trustMs) await this.#verify(signal);
    return this.#watched(send);
  }

  async #watched<T>(send: () => Promise<T>): Promise<T> {
    try {
      return await send();
    } catch (error) {
      this.#doubt(error);
      throw error;
    }
  }

  /** No answer, or one that takes us for a stranger: somebody else may answer next. */
  #doubt(error: unknown): void {
    if (isApiError(error) && (error.status === 0 || error.status === 401)) {
      this.#verifiedAt = Number.NEGATIVE_INFINITY;
    }
  }

  #verify(signal: AbortSignal): Promise<void> {
    if (this.#replaced) return Promise.reject(this.#error());
    this.#verifying ??= this.#ask(signal).finally(() => {
      this.#verifying = undefined;
    });
    return this.#verifying;
  }

  async #ask(signal: AbortSignal): Promise<void> {
    const { cluster, identity, clock, onReplaced } = this.#options;
    const found = await this.#watched(() => cluster.identity(signal));
    if (found === identity) {
      this.#verifiedAt = clock.monotonic();
      return;
    }
    this.#replaced = true;
    onReplaced(found);
    throw this.#error();
  }

  #error(): ApiError {
    const text = `behind the address of cluster ${this.#options.identity} is another one now; nothing is sent to it`;
    return new ApiError(text, { reaction: 'terminal', status: 0, reason: 'ClusterReplaced' });
  }
}
