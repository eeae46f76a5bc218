import { type FaultKind, isLossyFault } from './scenario.ts';

/** Faults after which the store may not have what the owners of its scopes last committed. */
const rollBacks = ['store wiped', 'store rolled back', 'scope rolled back', 'store loss at an operation'] as const;

/** The kinds of faults that a run has injected so far, which decide what may happen. */
export class InjectedFaults {
  readonly #kinds = new Set<FaultKind>();
  /** Whether messages or stored state may have been lost. */
  areLossy = false;

  /** Call this before the fault has effects. */
  add(kind: FaultKind): void {
    this.#kinds.add(kind);
    this.areLossy ||= isLossyFault(kind);
  }

  has(...kinds: readonly FaultKind[]): boolean {
    return kinds.some((kind) => this.#kinds.has(kind));
  }

  /** Whether the store may have lost commits. */
  get haveLostCommits(): boolean {
    return this.has(...rollBacks);
  }

  /** Whether the store has what the owners of its scopes last committed, as they wrote it. */
  get keepCommits(): boolean {
    return !this.haveLostCommits && !this.has('stored value unreadable');
  }

  get hasAny(): boolean {
    return this.#kinds.size > 0;
  }
}
