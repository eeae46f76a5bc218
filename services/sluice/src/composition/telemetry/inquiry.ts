import type { Clock } from '@sluice/runtime';

/** How long somebody who looks at metrics or health waits for a server. */
export const inquiryPatienceMs = 1_000;

/**
 * A question to a server that may be away. However often it is asked, one is on its way at most: a bus that is away may
 * keep it for long.
 */
export class Inquiry<T> {
  readonly #clock: Clock;
  readonly #send: () => Promise<T>;
  #pending: { readonly since: number; readonly answer: Promise<T> } | undefined;

  constructor(clock: Clock, send: () => Promise<T>) {
    this.#clock = clock;
    this.#send = send;
  }

  /** @throws Error that says for how long there has been no answer, or what the answer is that cannot be used */
  ask(patienceMs = inquiryPatienceMs): Promise<T> {
    const { since, answer } = this.#pending ?? this.#begin();
    // A scrape asks a hundred times at once: no more is made for each than a timer.
    return new Promise((resolve, reject) => {
      const cancel = this.#clock.schedule(patienceMs, () => {
        const seconds = (this.#clock.monotonic() - since) / 1000;
        reject(new Error(`no answer for ${seconds.toFixed(1)} s`));
      });
      answer.finally(cancel).then(resolve, reject);
    });
  }

  #begin() {
    const answer = Promise.resolve()
      .then(this.#send)
      .finally(() => {
        this.#pending = undefined;
      });
    this.#pending = { since: this.#clock.monotonic(), answer };
    answer.catch(() => {});
    return this.#pending;
  }
}
