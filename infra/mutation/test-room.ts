import { join } from 'node:path';
import type { MutantResult } from '@stryker-mutator/api/core';
import { Stryker } from '@stryker-mutator/core';
import { type Room, withoutMutants } from './rooms.ts';
import type { TestRunOptions } from './test-runs.ts';

/**
 * Tests that take more CPU time are not run against mutants: long random histories, whose few hundred cases for each mutant
 * would take most of the time. What only they notice deserves a test of its own.
 */
const SLOW_MS = 100;

export interface TestRoomOptions {
  readonly workers: number;
  /** Only files below these paths get mutants; default all of the room. */
  readonly files?: readonly string[];
}

/** Tests the mutants of a room. The current directory must be the working copy, whose files get changed. */
export async function testRoom(room: Room, { workers, files }: TestRoomOptions): Promise<readonly MutantResult[]> {
  const runs: TestRunOptions = { tests: room.tests, workers, slowMs: SLOW_MS };
  const mutated = files ?? [`${room.directory}/src/**/*.ts`];
  const stryker = new Stryker({
    mutate: [...mutated, ...withoutMutants.map((pattern) => `!${pattern}`)],
    testRunner: 'one-run',
    plugins: [join(import.meta.dirname, 'stryker-runner.ts'), join(import.meta.dirname, 'ignored-code.ts')],
    ignorers: ['words-for-people'],
    inPlace: true,
    coverageAnalysis: 'perTest',
    ignoreStatic: true,
    disableTypeChecks: false,
    concurrency: 1,
    dryRunTimeoutMinutes: 600,
    reporters: [],
    allowEmpty: true,
    allowConsoleColors: false,
    logLevel: 'error',
    warnings: false,
    runs,
  } as object);
  return stryker.runMutationTest();
}
