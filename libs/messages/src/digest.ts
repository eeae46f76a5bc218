/**
 * Digest of the facts about one Service; equal digests mean equal facts, independent of their order. Facts that only
 * watchers publish are hashed. Objects that Sluice writes are listed with their versions, because the reconciler may know
 * newer versions from Outcomes than the watcher.
 */
export interface Digest {
  /** Digest algorithm; digests of different forms cannot be compared. */
  readonly version: number;
  /** Hash; empty if there is no such fact. The same for `pods` and `topology`. */
  readonly service: string;
  readonly pods: string;
  readonly topology: string;
  /** At most one. */
  readonly endpoints: readonly ObjectReference[];
  readonly slices: readonly ObjectReference[];
}

/** One version of an object. */
export interface ObjectReference {
  readonly name: string;
  readonly uid: string;
  readonly resourceVersion: string;
}

/** Increased whenever the facts or their hashing change. */
export const digestVersion = 2;
