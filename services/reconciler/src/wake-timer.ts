import type { Cancel, Clock } from '@sluice/runtime';

/** A single timer that each wait resets. */
export class WakeTimer {
  readonly #clock: Clock;
  #cancel: Cancel = () => {};

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Resolves with undefined at the given time; never if it is undefined. */
  wake(at: number | undefined): Promise<undefined> {
    this.#cancel();
    return new Promise((resolve) => {
      if (at === undefined) return;
      this.#cancel = this.#clock.schedule(Math.max(0, at - this.#clock.now()), () => resolve(undefined));
    });
  }

  cancel(): void {
    this.#cancel();
  }
}
