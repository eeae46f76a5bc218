import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type PlantedBug, plant, planted, urlOf, variable } from '@sluice/program/planted-bug';
import { defineConfig } from 'vitest/config';

const text = process.env[variable];
const bug = text === undefined ? undefined : (JSON.parse(text) as PlantedBug);
const path = bug && fileURLToPath(urlOf(bug));

/** Runs unit tests with a planted bug if there is one. */
export default defineConfig({
  root: join(import.meta.dirname, '../../..'),
  plugins: [
    {
      name: 'planted-bug',
      enforce: 'pre',
      transform: (code, id) => (bug && id.split('?')[0] === path ? plant(bug, code) : undefined),
    },
  ],
  test: {
    include: ['libs/**/*.test.ts', 'services/**/*.test.ts'],
    exclude: ['**/node_modules/**', '**/*.int.test.ts'],
    testTimeout: 60_000,
    hookTimeout: 60_000,
    isolate: false,
    // A cached module is one without the bug, or with another one.
    fsModuleCache: false,
    // Threads and processes that tests start, and files that are read as text.
    execArgv: bug ? [...planted(bug).execArgv] : [],
  },
});
