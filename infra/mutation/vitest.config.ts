import { join } from 'node:path';
import { defineConfig } from 'vitest/config';
import { readSettings } from './run-record.ts';

const { files, workers } = readSettings();

/** How tests run against mutants; the current directory is the working copy. */
export default defineConfig({
  test: {
    include: [...files],
    exclude: ['**/node_modules/**', '**/*.int.test.ts'],
    runner: join(import.meta.dirname, 'mutating-runner.ts'),
    pool: 'threads',
    maxWorkers: workers,
    testTimeout: 60_000,
    // Hooks of a test that hangs hang too, and would take most of the time.
    hookTimeout: 2_000,
    dangerouslyIgnoreUnhandledErrors: true,
    passWithNoTests: true,
    onConsoleLog: () => false,
    reporters: [],
  },
});
