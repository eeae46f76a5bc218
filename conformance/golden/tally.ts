import type { Omission } from './compared-rounds.ts';
import type { Played } from './player.ts';

interface Count {
  readonly scenarios: number;
  readonly passed: number;
  readonly rounds: number;
  readonly compared: number;
}

const none: Count = { scenarios: 0, passed: 0, rounds: 0, compared: 0 };

/** Counts scenarios and rounds by title. */
export class Tally {
  readonly #counts = new Map<string, Count>();
  readonly #omitted = new Map<Omission, number>();

  add(title: string, { omitted, rounds }: Pick<Played, 'omitted' | 'rounds'>, passed: boolean): void {
    const one = { scenarios: 1, passed: passed ? 1 : 0, rounds, compared: rounds - omitted.length };
    this.#counts.set(title, sum(this.#counts.get(title) ?? none, one));
    for (const why of omitted) this.#omitted.set(why, (this.#omitted.get(why) ?? 0) + 1);
  }

  get total(): Count {
    return [...this.#counts.values()].reduce(sum, none);
  }

  get failed(): number {
    return this.total.scenarios - this.total.passed;
  }

  /** One line per title in alphabetical order, the total, and why rounds were not compared. */
  table(): string {
    const rows = [...this.#counts].sort(([a], [b]) => (a < b ? -1 : 1));
    const omitted = [...this.#omitted].map(([why, rounds]) => `rounds not compared, because ${why}: ${rounds}`);
    return [...rows.map(([title, count]) => row(title, count)), row('total', this.total), ...omitted].join('\n');
  }
}

function sum(a: Count, b: Count): Count {
  return {
    scenarios: a.scenarios + b.scenarios,
    passed: a.passed + b.passed,
    rounds: a.rounds + b.rounds,
    compared: a.compared + b.compared,
  };
}

function row(title: string, { passed, scenarios, compared, rounds }: Count): string {
  const share = ((100 * compared) / rounds).toFixed(1);
  const pad = (value: number | string, width: number) => String(value).padStart(width);
  return `${title.padEnd(34)} passed ${pad(passed, 5)} of ${pad(scenarios, 4)}   rounds compared ${pad(compared, 6)} of ${pad(rounds, 5)} (${pad(share, 5)} %)`;
}
