/**
 * Orders the Changes of a cluster: `epoch` is the fencing token of the watcher's lease, `sequence` increases with each of
 * its Changes. A fact that arrives after a newer one is ignored.
 */
export interface Stamp {
  readonly epoch: number;
  readonly sequence: number;
}

/** Negative if `a` is older, zero if they are equal, positive if `a` is newer. */
export function compareStamps(a: Stamp, b: Stamp): number {
  return a.epoch - b.epoch || a.sequence - b.sequence;
}
