import { type Clock, sleep } from '@sluice/runtime';

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
  async ask(patienceMs = inquiryPatienceMs): Promise<T> {
    const pending = this.#pending ?? this.#begin();
    const enough = new AbortController();
    const patience = sleep(this.#clock, patienceMs, enough.signal).then(() => {
      const seconds = (this.#clock.monotonic() - pending.since) / 1000;
      throw new Error(`no answer for ${seconds.toFixed(1)} s`);
    });
    patience.catch(() => {});
    try {
      return await Promise.race([pending.answer, patience]);
    } finally {
      enough.abort();
    }
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
