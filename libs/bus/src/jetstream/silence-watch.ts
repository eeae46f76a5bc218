import type { Cancel, Clock } from '@sluice/platform';

/** Checks all sessions of a process with one timer: one for each would wake an idle process for each partition. */
export class SilenceWatch {
  readonly #clock: Clock;
  /** Time between checks, in milliseconds. */
  readonly periodMs: number;
  readonly #checks = new Set<() => void>();
  #cancel: Cancel | undefined;

  constructor(clock: Clock, periodMs: number) {
    this.#clock = clock;
    this.periodMs = periodMs;
  }

  /** Calls `check` every period until the returned function is called. */
  add(check: () => void): Cancel {
    this.#checks.add(check);
    this.#cancel ??= this.#schedule();
    return () => {
      this.#checks.delete(check);
      if (this.#checks.size > 0) return;
      this.#cancel?.();
      this.#cancel = undefined;
    };
  }

  #schedule(): Cancel {
    return this.#clock.schedule(this.periodMs, () => {
      this.#cancel = this.#schedule();
      for (const check of [...this.#checks]) check();
    });
  }
}
