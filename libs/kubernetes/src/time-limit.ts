import type { Cancel, Clock } from '@sluice/runtime';
import { type ApiError, isApiError } from './api-error.ts';
import { abortedError, errorFromFailure, timeoutError } from './connection-error.ts';

/** Aborts a request when its caller aborts or its time limit expires, and tells which of the two happened. */
export class TimeLimit {
  readonly #clock: Clock;
  readonly #server: string;
  readonly #caller: AbortSignal;
  readonly #abort = new AbortController();
  readonly #onAbort = () => this.#abort.abort();
  #cancel: Cancel = () => {};
  #expired: { readonly ms: number; readonly what: string } | undefined;

  constructor(clock: Clock, server: string, caller: AbortSignal, timeoutMs: number, what: string) {
    this.#clock = clock;
    this.#server = server;
    this.#caller = caller;
    if (caller.aborted) this.#abort.abort();
    else caller.addEventListener('abort', this.#onAbort, { once: true });
    this.restart(timeoutMs, what);
  }

  get signal(): AbortSignal {
    return this.#abort.signal;
  }

  /** Whether the time limit, not the caller, ended the request. */
  get hasExpired(): boolean {
    return this.#expired !== undefined;
  }

  restart(ms: number, what: string): void {
    this.#cancel();
    this.#cancel = this.#clock.schedule(ms, () => {
      this.#expired = { ms, what };
      this.#abort.abort();
    });
  }

  pause(): void {
    this.#cancel();
  }

  end(): void {
    this.#cancel();
    this.#caller.removeEventListener('abort', this.#onAbort);
  }

  /** The ApiError for an error that ended the request. */
  explain(error: unknown): ApiError {
    if (isApiError(error)) return error;
    if (this.#expired !== undefined) return timeoutError(this.#server, this.#expired.what, this.#expired.ms);
    if (this.#caller.aborted) return abortedError(this.#server, this.#caller.reason);
    return errorFromFailure(error, this.#server);
  }
}
