/**
 * The store, as a port: it remembers, per scope, what its owner folded and decided. A scope is what one owner works on
 * alone: a partition of a reconciler, a lane of a writer.
 *
 * All of it is a cache of the clusters (the API servers are the truth): it may be lost whole, and what follows is a
 * resync.
 */
export interface Store {
  /** Everything that the scope holds. */
  load(scope: string): Promise<ScopeState>;
  /**
   * All of it or nothing. Throws FencedError if a newer epoch owns the scope or if the checkpoint is not the one the
   * owner believes: someone else has committed since, and what this owner has in memory is worthless.
   */
  commit(commit: Commit): Promise<void>;
}

/** Plain data, as JSON can carry it. Values are never changed after they were handed over. */
export type StoredValue = unknown;

export interface ScopeState {
  /** Position of the last record whose effects are in here; 0 if none. */
  readonly checkpoint: number;
  readonly entries: readonly StoredEntry[];
  readonly outbox: readonly OutboxEntry[];
}

export interface StoredEntry {
  /** Formatted service key. */
  readonly key: string;
  readonly field: string;
  readonly value: StoredValue;
}

/** A record to be appended to the bus. It stays in the store until it is known to have been appended. */
export interface OutboxEntry {
  readonly id: string;
  readonly key: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly payload: Uint8Array;
}

export interface Commit {
  readonly scope: string;
  readonly epoch: number;
  /** The checkpoint that the owner believes to be in the store. */
  readonly expected: number;
  readonly checkpoint: number;
  /** `value` undefined removes the field. */
  readonly entries: readonly StoredEntry[];
  readonly publish: readonly OutboxEntry[];
  /** Ids of outbox entries that were appended to the bus. */
  readonly published: readonly string[];
}

export class FencedError extends Error {
  override readonly name = 'FencedError';
  readonly code = 'FENCED';
}

export function isFencedError(error: unknown): error is FencedError {
  return error instanceof Error && 'code' in error && error.code === 'FENCED';
}
