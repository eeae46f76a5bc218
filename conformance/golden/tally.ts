/** Counts passed and failed scenarios by title. */
export class Tally {
  readonly #counts = new Map<string, { passed: number; all: number }>();

  add(title: string, passed: boolean): void {
    const count = this.#counts.get(title) ?? { passed: 0, all: 0 };
    this.#counts.set(title, { passed: count.passed + (passed ? 1 : 0), all: count.all + 1 });
  }

  get passed(): number {
    return [...this.#counts.values()].reduce((sum, { passed }) => sum + passed, 0);
  }

  get failed(): number {
    return [...this.#counts.values()].reduce((sum, { passed, all }) => sum + all - passed, 0);
  }

  /** One line per title in alphabetical order, and the total. */
  table(): string {
    const rows = [...this.#counts].sort(([a], [b]) => (a < b ? -1 : 1));
    const lines = rows.map(([title, { passed, all }]) => row(title, passed, all));
    return [...lines, row('total', this.passed, this.passed + this.failed)].join('\n');
  }
}

const row = (title: string, passed: number, all: number): string =>
  `${title.padEnd(32)} passed ${String(passed).padStart(5)} of ${String(all).padStart(5)}`;
