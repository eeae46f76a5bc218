import type { Cancel, Clock } from '@sluice/runtime';

/** A single timer that each wait resets. */
export class WakeTimer {
  readonly #clock: Clock;
  #cancel: Cancel = () => {};

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Resolves with undefined after the given time, in milliseconds; never if it is undefined. */
  wake(afterMs: number | undefined): Promise<undefined> {
    this.#cancel();
    return new Promise((resolve) => {
      if (afterMs === undefined) return;
      this.#cancel = this.#clock.schedule(Math.max(0, afterMs), () => resolve(undefined));
    });
  }

  cancel(): void {
    this.#cancel();
  }
}
