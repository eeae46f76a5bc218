/** How many seeds have reached each branch. */
export class Coverage {
  readonly #seeds: Map<string, number>;

  constructor(branches: readonly string[]) {
    this.#seeds = new Map(branches.map((name) => [name, 0]));
  }

  /** Counts the branches that a seed has reached. */
  add(reached: readonly string[]): void {
    for (const name of reached) this.#seeds.set(name, (this.#seeds.get(name) ?? 0) + 1);
  }

  get missed(): readonly string[] {
    return [...this.#seeds].filter(([, seeds]) => seeds === 0).map(([name]) => name);
  }

  /** The branches that fewest seeds have reached. */
  get rarest(): string {
    const byCount = [...this.#seeds].filter(([, seeds]) => seeds > 0).sort(([, a], [, b]) => a - b);
    return byCount
      .slice(0, 5)
      .map(([name, seeds]) => `${name} (${seeds})`)
      .join(', ');
  }

  get summary(): string {
    const { size } = this.#seeds;
    return `${size - this.missed.length} of ${size} rare branches reached; by the fewest seeds: ${this.rarest}`;
  }
}
