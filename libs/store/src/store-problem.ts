const storeProblemKinds = ['version', 'readOnly', 'eviction', 'persistence', 'replication'] as const;

/** A property of the store's server under which stored state can be lost. */
export interface StoreProblem {
  readonly kind: (typeof storeProblemKinds)[number];
  /** Names the server, and what to change. */
  readonly message: string;
}

/** The number of problems of each kind, 0 included. */
export function countProblems(problems: readonly StoreProblem[]): ReadonlyMap<StoreProblem['kind'], number> {
  return new Map(storeProblemKinds.map((kind) => [kind, problems.filter((one) => one.kind === kind).length]));
}
