import { join } from 'node:path';
import { defineConfig } from 'vitest/config';

/** Limits are for what hangs: how fast something is, is for the benches, and a busy machine is no failure. No test sets its own. */
const limits = {
  unit: { testTimeout: 300_000, hookTimeout: 300_000, expect: { poll: { timeout: 60_000 } } },
  // Hooks build servers and start them, some tests again and again.
  integration: { testTimeout: 600_000, hookTimeout: 1_500_000, expect: { poll: { timeout: 240_000, interval: 100 } } },
};

/** Halves the CPU time of each start of `sluice`. */
const env = { NODE_COMPILE_CACHE: join(import.meta.dirname, '.cache/compiled') };

export default defineConfig({
  test: {
    projects: [
      {
        test: {
          name: 'unit',
          include: [
            'libs/**/*.test.ts',
            'services/**/*.test.ts',
            'fake-apiserver/**/*.test.ts',
            'demo/**/*.test.ts',
            'conformance/**/*.test.ts',
            'bench/**/*.test.ts',
            'chaos/**/*.test.ts',
            'infra/**/*.test.ts',
            'tests/**/*.test.ts',
          ],
          exclude: ['**/node_modules/**', '.cache/**', '**/*.int.test.ts', '**/*.site.test.ts', '**/*.nightly.test.ts'],
          ...limits.unit,
          setupFiles: process.env.SEED === undefined ? [] : ['tests/harness/fast-check-seed.ts'],
          // Files of one worker share loaded modules, which saves half of the CPU time.
          isolate: false,
          // Some tests wait for processes and time limits.
          maxWorkers: '100%',
        },
      },
      {
        // Of the website, once `npm run docs:build` has built it.
        test: { name: 'site', include: ['tests/site/*.site.test.ts'], ...limits.unit },
      },
      {
        test: {
          name: 'integration',
          include: ['**/*.int.test.ts'],
          exclude: ['**/node_modules/**', '.cache/**'],
          ...limits.integration,
          env,
          // Most of their time is waiting for servers, leases and restarts.
          fileParallelism: true,
          maxWorkers: 3,
        },
      },
      {
        // Of the nightly run, on each release of Kubernetes.
        test: { name: 'nightly', include: ['tests/*.nightly.test.ts'], ...limits.integration },
      },
    ],
  },
});
