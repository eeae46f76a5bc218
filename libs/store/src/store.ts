/**
 * Port of the store: keeps the state that the owner of a scope has applied and decided. A scope has one owner at a time, such
 * as a partition of a reconciler or a plan partition of a writer.
 *
 * The store is a cache; the API servers are the source of truth. Losing all of it causes a resync, never a wrong write.
 */
export interface Store {
  /**
   * Claims the scope and returns its contents. Commits with a lower fencing token fail from then on. Throws FencedError if
   * the scope is claimed under a higher token.
   */
  claim(scope: string, fencingToken: number): Promise<ScopeState>;
  /**
   * Atomic. Throws FencedError if the scope is claimed under a higher fencing token or its offset is not `expectedOffset`:
   * another owner has committed or the store has lost commits, so the caller must discard its in-memory state.
   */
  commit(commit: Commit): Promise<void>;
  /**
   * Reads the entries whose field starts with `prefix`, without claiming the scope; for observers. Not a snapshot: a
   * concurrent commit may be partly visible.
   */
  find(scope: string, prefix: string): Promise<readonly StoredEntry[]>;
  /** Sets a value for the whole fleet unless it is already set. Returns the value in effect. */
  setIfAbsent(name: string, value: string): Promise<string>;
  /** Reads the checkpoint of a scope without claiming it; null if there is none. For observers. */
  checkpoint(scope: string): Promise<Checkpoint | null>;
}

/** A JSON value; immutable once handed over. */
export type StoredValue = unknown;

/** StreamOffset just after the last record whose effects are in the scope. */
export interface Checkpoint {
  readonly offset: number;
  readonly id: string;
  readonly streamId: string;
}

export interface ScopeState {
  /** Offset 0: nothing has been committed. null: the scope is empty, and the store cannot tell whether it lost data. */
  readonly checkpoint: Checkpoint | null;
  /**
   * False if commits may be lost: since the last commit the store's server has restarted, failed over or been replaced.
   */
  readonly intact: boolean;
  readonly entries: readonly StoredEntry[];
}

export interface StoredEntry {
  /** Formatted service key. */
  readonly key: string;
  readonly field: string;
  readonly value: StoredValue;
}

export interface Commit {
  readonly scope: string;
  readonly fencingToken: number;
  /** Offset of the checkpoint that the owner expects in the store; 0 for none. */
  readonly expectedOffset: number;
  readonly checkpoint: Checkpoint;
  /** `value` undefined removes the field. */
  readonly entries: readonly StoredEntry[];
}

export class FencedError extends Error {
  override readonly name = 'FencedError';
  readonly code = 'FENCED';
}

export function isFencedError(error: unknown): error is FencedError {
  return error instanceof Error && 'code' in error && error.code === 'FENCED';
}

/** The store, calling `onFenced` whenever it rejects a former owner. */
export function countFencedErrors(store: Store, onFenced: () => void): Store {
  const counted = async <T>(answer: Promise<T>): Promise<T> => {
    try {
      return await answer;
    } catch (error) {
      if (isFencedError(error)) onFenced();
      throw error;
    }
  };
  return {
    claim: (...args) => counted(store.claim(...args)),
    commit: (...args) => counted(store.commit(...args)),
    setIfAbsent: (...args) => store.setIfAbsent(...args),
    find: (...args) => store.find(...args),
    checkpoint: (...args) => store.checkpoint(...args),
  };
}

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
