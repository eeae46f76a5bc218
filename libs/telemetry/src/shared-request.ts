import type { Clock } from '@sluice/runtime';

/** Timeout of a request for metrics or health. */
export const probeTimeoutMs = 1_000;

/**
 * A request to a server that may be unreachable. Concurrent calls share one request, because an unreachable server may hold
 * it for long.
 */
export class SharedRequest<T> {
  readonly #clock: Clock;
  readonly #request: () => Promise<T>;
  #pending: { readonly since: number; readonly answer: Promise<T> } | undefined;

  constructor(clock: Clock, send: () => Promise<T>) {
    this.#clock = clock;
    this.#request = send;
  }

  /** @throws Error on a timeout, with the time since the request was sent, or if the request fails */
  send(timeoutMs = probeTimeoutMs): Promise<T> {
    const { since, answer } = this.#pending ?? this.#begin();
    // One scrape makes a hundred calls, so a call costs one timer only.
    return new Promise((resolve, reject) => {
      const cancel = this.#clock.schedule(timeoutMs, () => {
        const seconds = (this.#clock.monotonic() - since) / 1000;
        reject(new Error(`no response for ${seconds.toFixed(1)} s`));
      });
      answer.finally(cancel).then(resolve, reject);
    });
  }

  #begin() {
    const answer = Promise.resolve()
      .then(this.#request)
      .finally(() => {
        this.#pending = undefined;
      });
    this.#pending = { since: this.#clock.monotonic(), answer };
    answer.catch(() => {});
    return this.#pending;
  }
}
