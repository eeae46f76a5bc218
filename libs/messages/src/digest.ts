/**
 * What a set of facts about one Service comes down to. Two that are equal stand for the same facts, in whatever order
 * they came. What watchers alone tell is hashed; objects that Sluice itself writes are named with their versions, since
 * whoever wrote them may know of newer ones than the watcher does.
 */
export interface Digest {
  /** Digests of another form cannot be compared with this one. */
  readonly form: number;
  /** Empty where there is none. */
  readonly service: string;
  readonly pods: string;
  readonly topology: string;
  /** One at most. */
  readonly endpoints: readonly ObjectReference[];
  readonly slices: readonly ObjectReference[];
}

/** An object as of one version. */
export interface ObjectReference {
  readonly name: string;
  readonly uid: string;
  readonly resourceVersion: string;
}

/** Rises whenever facts, or how they are hashed, change. */
export const digestForm = 1;
