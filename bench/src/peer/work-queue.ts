/** As in kube-controller-manager with raised limits. */
const workers = 20;
/** Delays after failures, as of client-go's default rate limiter, in milliseconds. */
const [firstDelayMs, longestDelayMs] = [5, 1_000_000];

/**
 * Client-go's rate-limited work queue: a key that is added several times is processed once, never by two workers at the same time,
 * and again if it was added meanwhile. A failed key waits twice as long each time.
 */
export class WorkQueue {
  readonly #process: (key: string) => Promise<void>;
  readonly #waiting = new Set<string>();
  readonly #running = new Set<string>();
  readonly #failures = new Map<string, number>();

  constructor(process: (key: string) => Promise<void>) {
    this.#process = process;
  }

  add(key: string): void {
    this.#waiting.add(key);
    this.#work();
  }

  #work(): void {
    for (const key of this.#waiting) {
      if (this.#running.size >= workers) return;
      if (this.#running.has(key)) continue;
      this.#waiting.delete(key);
      this.#running.add(key);
      void this.#run(key);
    }
  }

  async #run(key: string): Promise<void> {
    try {
      await this.#process(key);
      this.#failures.delete(key);
    } catch {
      const failures = this.#failures.get(key) ?? 0;
      this.#failures.set(key, failures + 1);
      setTimeout(() => this.add(key), Math.min(longestDelayMs, firstDelayMs * 2 ** failures));
    }
    this.#running.delete(key);
    this.#work();
  }
}
