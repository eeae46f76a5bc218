import type { Clock } from '@sluice/platform';

/** Timeout of a request for metrics or health. */
const probeTimeoutMs = 1_000;

/** How long an answer is used after its request was sent, in milliseconds: less than any interval of probes and scrapes. */
const maxAgeMs = 1_000;

interface Sent<T> {
  readonly since: number;
  readonly answer: Promise<T>;
  isPending: boolean;
}

/**
 * A request to a server that may be unreachable, sent at most once a second, however many calls there are. Calls share it
 * while it is pending, because an unreachable server may hold it for long.
 */
export class SharedRequest<T> {
  readonly #clock: Clock;
  readonly #request: () => Promise<T>;
  #last: Sent<T> | undefined;

  constructor(clock: Clock, send: () => Promise<T>) {
    this.#clock = clock;
    this.#request = send;
  }

  /** @throws Error on a timeout, with the time since the request was sent, or if the request fails */
  send(timeoutMs = probeTimeoutMs): Promise<T> {
    const { since, answer } = this.#current;
    // One scrape makes a hundred calls, so a call costs one timer only.
    return new Promise((resolve, reject) => {
      const cancel = this.#clock.schedule(timeoutMs, () => {
        const seconds = (this.#clock.monotonic() - since) / 1000;
        reject(new Error(`no response for ${seconds.toFixed(1)} s`));
      });
      answer.finally(cancel).then(resolve, reject);
    });
  }

  /** The answer, however long it takes. */
  get answer(): Promise<T> {
    return this.#current.answer;
  }

  get #current(): Sent<T> {
    const last = this.#last;
    const isUsable = last?.isPending || (last !== undefined && this.#clock.monotonic() - last.since < maxAgeMs);
    return isUsable ? last : this.#begin();
  }

  #begin(): Sent<T> {
    const answer = Promise.resolve().then(this.#request);
    const sent: Sent<T> = { since: this.#clock.monotonic(), answer, isPending: true };
    const settle = () => {
      sent.isPending = false;
    };
    answer.then(settle, settle);
    this.#last = sent;
    return sent;
  }
}
