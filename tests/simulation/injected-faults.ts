import { type FaultKind, isLossyFault } from './scenario.ts';

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

  get hasAny(): boolean {
    return this.#kinds.size > 0;
  }
}
