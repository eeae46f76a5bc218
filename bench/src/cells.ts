import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Results, Run } from './results.ts';
import { rounded } from './statistics.ts';
import type { Workload } from './workloads.ts';

/** A measured combination of workload, controller and round, with its conditions. */
export interface Cell extends Omit<Results, 'runs' | 'rounds'> {
  readonly workload: string;
  readonly run: Run;
}

/** Results of a long comparison, one file per cell, so that it can be interrupted, resumed and done in parts. */
export class Cells {
  readonly #directory: string;

  constructor(directory: string) {
    this.#directory = directory;
    mkdirSync(directory, { recursive: true });
  }

  has(workload: string, controller: string, round: number): boolean {
    return existsSync(this.#file(workload, controller, round));
  }

  add(cell: Cell): void {
    const file = this.#file(cell.workload, cell.run.controller, cell.run.round);
    // Atomic: an existing file counts as measured.
    writeFileSync(`${file}.part`, `${JSON.stringify(cell, rounded, 1)}\n`);
    renameSync(`${file}.part`, file);
  }

  /** All results of a workload; undefined if there are none. */
  results({ name, shape }: Workload, controllers: readonly string[]): Results | undefined {
    const cells = readdirSync(this.#directory)
      .filter((file) => file.startsWith(`${name}--`) && file.endsWith('.json'))
      .map((file): Cell => JSON.parse(readFileSync(join(this.#directory, file), 'utf8')));
    const [first] = cells;
    if (first === undefined) return undefined;
    const { workload: _, run: __, ...conditions } = first;
    const order = (run: Run) => controllers.indexOf(run.controller);
    const runs = cells.map(({ run }) => run).filter((run) => order(run) >= 0);
    const commits = [...new Set(cells.map(({ commit }) => commit))];
    return {
      ...conditions,
      shape,
      commit: commits.join(' and '),
      rounds: Math.max(...runs.map(({ round }) => round)),
      runs: runs.toSorted((a, b) => a.round - b.round || order(a) - order(b)),
    };
  }

  #file(workload: string, controller: string, round: number): string {
    return join(this.#directory, `${workload}--${controller}--${round}.json`);
  }
}
