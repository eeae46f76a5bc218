/**
 * The store, as a port: it remembers, per scope, what its owner folded and decided. A scope is what one owner works on
 * alone: a partition of a reconciler, a lane of a writer.
 *
 * All of it is a cache of the clusters (the API servers are the truth): it may be lost whole, and what follows is a
 * resync.
 */
export interface Store {
  /**
   * Takes the scope over and returns everything that it holds. From here on commits of lower epochs are refused. Throws
   * FencedError if a newer epoch has it.
   */
  claim(scope: string, epoch: number): Promise<ScopeState>;
  /**
   * All of it or nothing. Throws FencedError if a newer epoch owns the scope or if the offset is not the one that the
   * owner believes: someone else has committed since, or the store has lost commits; either way what this owner has in
   * memory is worthless.
   */
  commit(commit: Commit): Promise<void>;
  /**
   * Reads along, for people: the entries of the scope whose field begins with `prefix`, without taking the scope over.
   * Some may be from before a commit that is made meanwhile, others from after it.
   */
  find(scope: string, prefix: string): Promise<readonly StoredEntry[]>;
  /**
   * Settles a value for the whole fleet: the first one stays. Returns the one that holds.
   */
  setIfAbsent(name: string, value: string): Promise<string>;
  /** How far the owner of a scope has come; null: nothing is there. For whoever looks on: nothing is taken over. */
  checkpoint(scope: string): Promise<Checkpoint | null>;
}

/** Plain data, as JSON can carry it. Values are never changed after they were handed over. */
export type StoredValue = unknown;

/** Just after the last record whose effects are in the scope: a cursor of the bus. */
export interface Checkpoint {
  readonly offset: number;
  readonly id: string;
  readonly streamId: string;
}

export interface ScopeState {
  /** Position 0: nothing was committed yet. null: nothing is there, and whether something was, the store cannot say. */
  readonly checkpoint: Checkpoint | null;
  /**
   * False if commits may have been lost since the last claim: the store's server has restarted, failed over, or is
   * another one than that which took the last commit.
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
  /** Position of the checkpoint that the owner believes to be in the store; 0 if it believes in none. */
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
