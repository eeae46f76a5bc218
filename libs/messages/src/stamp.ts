/**
 * Orders what one watcher of a cluster said: `epoch` rises with each watcher that takes over, `n` with each Change of
 * that watcher. An older fact after a newer one changes nothing.
 */
export interface Stamp {
  readonly epoch: number;
  readonly sequence: number;
}

/** Negative if `a` is older, zero if they are the same, positive if `a` is newer. */
export function compareStamps(a: Stamp, b: Stamp): number {
  return a.epoch - b.epoch || a.sequence - b.sequence;
}
