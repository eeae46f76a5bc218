import { fork } from 'node:child_process';
import { once } from 'node:events';
import type { PlantedBug } from '@sluice/program/planted-bug';

export interface TestRun {
  readonly bug?: PlantedBug;
  readonly files: readonly string[];
  /** All tests of the files by default. */
  readonly names?: readonly string[];
  /** Whether the first failure ends the run. */
  readonly firstFailureOnly?: boolean;
}

export interface TestResult {
  readonly file: string;
  /** Titles of the groups and of the test, joined with " > ". */
  readonly name: string;
  readonly passed: boolean;
  readonly errors: readonly string[];
}

export type TestReport = { readonly seconds: number } & (
  | { readonly results: readonly TestResult[] }
  | {
      /** Why the tests could not be loaded. */
      readonly error: string;
    }
);

/** Runs the tests in several processes. */
export async function runAll(
  runs: readonly TestRun[],
  processes: number,
  onReport: (index: number, report: TestReport) => void,
): Promise<void> {
  let next = 0;
  const work = async () => {
    const child = fork(new URL('./test-process.ts', import.meta.url));
    const exited = once(child, 'exit').then(([status]) => {
      throw new Error(`a test process ended with exit status ${status}`);
    });
    const answer = async () => (await Promise.race([once(child, 'message'), exited]))[0];
    try {
      await answer();
      for (let index = next++; index < runs.length; index = next++) {
        child.send({ ...runs[index] });
        onReport(index, await answer());
      }
    } finally {
      exited.catch(() => {});
      child.disconnect();
    }
  };
  await Promise.all(Array.from({ length: Math.min(processes, runs.length) }, work));
}
