import type { Violations } from '../../violations.ts';

/** What a leader election must do: of all processes that ever write, each one writes until the next one begins, and never again. */
export class LeaderModel {
  readonly #violations: Violations;
  readonly #former = new Set<string>();
  #leader = '';

  constructor(violations: Violations) {
    this.#violations = violations;
  }

  /** The bytes of a write leave this process. */
  wrote(process: string): void {
    if (this.#former.has(process)) {
      this.#violations.report('one leader', `${process} sends a write after ${this.#leader} has sent one`);
    }
    if (process === this.#leader) return;
    this.#former.add(this.#leader);
    this.#leader = process;
  }

  /** These processes take themselves for the leader. */
  claimed(processes: readonly string[]): void {
    if (processes.length > 1) this.#violations.report('one leader', `${processes.join(' and ')} lead at the same time`);
    for (const process of processes) {
      if (this.#former.has(process))
        this.#violations.report('one leader', `${process} leads after ${this.#leader} has sent a write`);
    }
  }
}
