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

export function isStamp(value: unknown): value is Stamp {
  if (typeof value !== 'object' || value === null || !('epoch' in value) || !('sequence' in value)) return false;
  return Number.isInteger(value.epoch) && Number.isInteger(value.sequence);
}
