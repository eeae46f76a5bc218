import type { Cancel, Clock } from '@sluice/platform';
import { type ApiError, isApiError } from './api-error.ts';
import { abortedError, errorFromFailure, timeoutError } from './connection-error.ts';

/** Aborts a request when its caller aborts or its time limit expires, and tells which of the two happened. */
export class TimeLimit {
  /** Called when the request has to be aborted. An AbortSignal of its own would cost each request several times as much. */
  onAbort: () => void = () => {};
  readonly #clock: Clock;
  readonly #server: string;
  readonly #caller: AbortSignal;
  readonly #detach: () => void;
  #cancel: Cancel = () => {};
  #expired: { readonly ms: number; readonly what: string } | undefined;

  constructor(clock: Clock, server: string, caller: AbortSignal, timeoutMs: number, what: string) {
    this.#clock = clock;
    this.#server = server;
    this.#caller = caller;
    this.#detach = onAbort(caller, () => this.onAbort());
    this.restart(timeoutMs, what);
  }

  /** Whether the time limit, not the caller, ended the request. */
  get hasExpired(): boolean {
    return this.#expired !== undefined;
  }

  /** Whether the request has been aborted, perhaps before anything listened. */
  get isAborted(): boolean {
    return this.hasExpired || this.#caller.aborted;
  }

  restart(ms: number, what: string): void {
    this.#cancel();
    this.#cancel = this.#clock.schedule(ms, () => {
      this.#expired = { ms, what };
      this.onAbort();
    });
  }

  pause(): void {
    this.#cancel();
  }

  end(): void {
    this.#cancel();
    this.#detach();
  }

  /** The ApiError for an error that ended the request. */
  explain(error: unknown): ApiError {
    if (isApiError(error)) return error;
    if (this.#expired !== undefined) return timeoutError(this.#server, this.#expired.what, this.#expired.ms);
    if (this.#caller.aborted) return abortedError(this.#server, this.#caller.reason);
    return errorFromFailure(error, this.#server);
  }
}

/** What to call when a caller aborts. Most requests share a few signals, and a listener for each request is expensive. */
const callbacks = new WeakMap<AbortSignal, Set<() => void>>();

/** Calls `callback` when the signal aborts. Returns a function that prevents this. */
function onAbort(signal: AbortSignal, callback: () => void): () => void {
  let registered = callbacks.get(signal);
  if (registered === undefined) {
    const all = new Set<() => void>();
    signal.addEventListener('abort', () => all.forEach((abort) => void abort()), { once: true });
    callbacks.set(signal, all);
    registered = all;
  }
  registered.add(callback);
  return () => registered.delete(callback);
}
