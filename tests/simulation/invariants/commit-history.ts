import type { Checkpoint, Commit } from '@sluice/store';
import { isLinearizable, type Operation, type SequentialModel } from './linearizability.ts';

/** A claim or a commit as its sender saw it. */
export interface ScopeRequest {
  readonly fencingToken: number;
  /** Undefined: this is a claim. */
  readonly commit: Pick<Commit, 'expectedOffset' | 'checkpoint'> | undefined;
  /** Unknown without an answer, and after any other error, which leaves open whether the request took effect. */
  readonly result: 'done' | 'fenced' | 'unknown';
  /** What a claim returned. */
  readonly found: Checkpoint | null;
}

interface Scope {
  readonly fencingToken: number;
  readonly checkpoint: Checkpoint | null;
}

/**
 * Whether claims and commits follow from a scope that has one checkpoint: a commit succeeds if it expects that checkpoint's offset under the
 * token of the last claim or a higher one, and a claim returns what the last commit has left.
 */
export function areCommitsLinearizable(history: readonly Operation<ScopeRequest>[]): boolean {
  return isLinearizable(model, history);
}

const model: SequentialModel<Scope, ScopeRequest> = {
  initial: { fencingToken: 0, checkpoint: null },
  keyOf: ({ fencingToken, checkpoint }) => `${fencingToken} ${textOf(checkpoint)}`,
  step: (scope, request) => {
    const { commit, fencingToken, result, found } = request;
    const isFenced = fencingToken < scope.fencingToken;
    if (commit === undefined) {
      if (result === 'unknown' || (result === 'fenced') === isFenced) {
        const isOther = result === 'done' && textOf(found) !== textOf(scope.checkpoint);
        return isOther ? undefined : { ...scope, fencingToken: Math.max(fencingToken, scope.fencingToken) };
      }
      return undefined;
    }
    // A store may also fence a commit because the same owner has sent another one before it.
    if (result === 'fenced') return scope;
    if (!isFenced && commit.expectedOffset === (scope.checkpoint?.offset ?? 0))
      return { fencingToken, checkpoint: commit.checkpoint };
    return result === 'done' ? undefined : scope;
  },
};

/** Offset 0 stands for none. */
const textOf = (checkpoint: Checkpoint | null): string =>
  checkpoint === null || checkpoint.offset === 0
    ? 'none'
    : `${checkpoint.offset} ${checkpoint.id} ${checkpoint.streamId}`;
