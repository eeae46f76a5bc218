import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Conditions, commonConditions } from './conditions.ts';
import type { Results, Run } from './results.ts';
import { resultsJson } from './results-file.ts';

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
    writeFileSync(`${file}.part`, resultsJson(cell));
    renameSync(`${file}.part`, file);
  }

  /** Names of the controllers of all cells. */
  controllers(): readonly string[] {
    return [...new Set(this.#read(() => true).map(({ run }) => run.controller))];
  }

  /** Conditions of all cells. */
  conditions(): readonly Conditions[] {
    return this.#read(() => true).map(({ conditions }) => conditions);
  }

  /**
   * All results of a workload; undefined if there are none.
   *
   * @throws Error if the cells are of several machines or commits
   */
  results(workload: string, controllers: readonly string[]): Results | undefined {
    const cells = this.#read((file) => file.startsWith(`${workload}--`));
    const [first] = cells;
    if (first === undefined) return undefined;
    const { workload: _, run: __, ...rest } = first;
    const order = (run: Run) => controllers.indexOf(run.controller);
    const runs = cells.map(({ run }) => run).filter((run) => order(run) >= 0);
    return {
      ...rest,
      conditions: commonConditions(cells.map(({ conditions }) => conditions)),
      rounds: Math.max(...runs.map(({ round }) => round)),
      runs: runs.toSorted((a, b) => a.round - b.round || order(a) - order(b)),
    };
  }

  #read(isWanted: (file: string) => boolean): readonly Cell[] {
    return readdirSync(this.#directory)
      .filter((file) => file.endsWith('.json') && isWanted(file))
      .map((file): Cell => JSON.parse(readFileSync(join(this.#directory, file), 'utf8')));
  }

  #file(workload: string, controller: string, round: number): string {
    return join(this.#directory, `${workload}--${controller}--${round}.json`);
  }
}
