import { type Clock, sleep } from '@sluice/platform';

/** How one process alone cannot reach a server: connections are refused; what it sends is lost; or what the server answers is lost. */
export type Cut = 'refused' | 'silent' | 'unanswered';

/** A client that connects again fails this often, in milliseconds. */
const refusedAfterMs = 100;

/** Whether a process reaches a server. Once it does not, it never does again. */
export class Reach {
  readonly #clock: Clock;
  readonly #lost = Promise.withResolvers<void>();
  #cut: Cut | undefined;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  cut(how: Cut): void {
    this.#cut = how;
    this.#lost.resolve();
  }

  get isCut(): boolean {
    return this.#cut !== undefined;
  }

  get isRefused(): boolean {
    return this.#cut === 'refused';
  }

  /** Resolves once the server is out of reach. */
  get lost(): Promise<void> {
    return this.#lost.promise;
  }

  /** Sends a request. Its answer is lost if the server is out of reach by then. `fail` makes the error. */
  async send<T>(
    send: () => Promise<T>,
    fail: (why: string) => Error,
    { timeoutMs, signal }: { readonly timeoutMs: number; readonly signal?: AbortSignal | undefined },
  ): Promise<T> {
    if (this.#cut === undefined || this.#cut === 'unanswered') {
      const answer = await send();
      if (this.#cut === undefined) return answer;
    }
    await sleep(this.#clock, this.#cut === 'refused' ? refusedAfterMs : timeoutMs, signal);
    throw fail(`injected: no connection (${this.#cut})`);
  }
}
