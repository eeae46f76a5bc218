import { type Clock, untilNextTick } from '@sluice/platform';
import type { Check } from './health.ts';

/** A liveness check of a loop: fails if the loop has not completed an iteration for `limitMs`. */
export class LoopMonitor {
  readonly check: Check;
  readonly #clock: Clock;
  #beatAt: number;

  constructor(name: string, clock: Clock, limitMs: number) {
    this.#clock = clock;
    this.#beatAt = clock.monotonic();
    this.check = {
      name,
      run: () => {
        const ageMs = this.#clock.monotonic() - this.#beatAt;
        if (ageMs > limitMs) throw new Error(`stuck for ${Math.round(ageMs / 1000)} s`);
        return '';
      },
    };
  }

  heartbeat(): void {
    this.#beatAt = this.#clock.monotonic();
  }
}

/** A liveness check of the event loop, which a long synchronous task blocks. */
export function monitorEventLoop(clock: Clock): { readonly check: Check; close(): void } {
  const monitor = new LoopMonitor('event-loop', clock, eventLoopLimitMs);
  let cancel = (): void => {};
  const tick = () => {
    monitor.heartbeat();
    cancel = clock.schedule(untilNextTick(clock, eventLoopTickMs), tick);
  };
  tick();
  return { check: monitor.check, close: () => cancel() };
}

const eventLoopTickMs = 1_000;
const eventLoopLimitMs = 20_000;
