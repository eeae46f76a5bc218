import type { Clock } from '@sluice/runtime';
import type { Check } from './health.ts';

/** A liveness check of a loop: fails if the loop has not completed an iteration for `limitMs`. */
export class Pulse {
  readonly check: Check;
  readonly #clock: Clock;
  #beatAt: number;

  constructor(name: string, clock: Clock, limitMs: number) {
    this.#clock = clock;
    this.#beatAt = clock.monotonic();
    this.check = {
      name,
      ask: () => {
        const ageMs = this.#clock.monotonic() - this.#beatAt;
        if (ageMs > limitMs) throw new Error(`stuck for ${Math.round(ageMs / 1000)} s`);
        return '';
      },
    };
  }

  beat(): void {
    this.#beatAt = this.#clock.monotonic();
  }
}

/** A liveness check of the event loop, which a long synchronous task blocks. */
export function eventLoopPulse(clock: Clock): { readonly check: Check; close(): void } {
  const pulse = new Pulse('event-loop', clock, eventLoopLimitMs);
  let cancel = (): void => {};
  const tick = () => {
    pulse.beat();
    cancel = clock.schedule(eventLoopTickMs, tick);
  };
  tick();
  return { check: pulse.check, close: () => cancel() };
}

const eventLoopTickMs = 1_000;
const eventLoopLimitMs = 20_000;
