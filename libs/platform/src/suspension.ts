import type { Clock } from './clock.ts';

/** A moment on both clocks. */
export interface Instant {
  readonly monotonic: number;
  readonly wallOffset: number;
}

/** Wall clock minus monotonic clock. */
export const wallOffset = (clock: Clock): number => clock.now() - clock.monotonic();

export const instant = (clock: Clock): Instant => ({ monotonic: clock.monotonic(), wallOffset: wallOffset(clock) });

/**
 * How long the machine was suspended since its clocks had this offset, in milliseconds. The monotonic clock stops during a
 * suspension, and the wall clock shows on resume for how long. A wall clock that is set forward looks the same.
 */
export const suspendedMs = (clock: Clock, offset: number): number => Math.max(0, wallOffset(clock) - offset);

/** Milliseconds since `start`, suspensions included. */
export const elapsedMs = (clock: Clock, start: Instant): number =>
  clock.monotonic() - start.monotonic + suspendedMs(clock, start.wallOffset);
