import { defineConfig } from 'vitest/config';

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
          exclude: ['**/node_modules/**', '**/*.int.test.ts', '**/*.site.test.ts'],
          // For what hangs; how fast something is, is for the benches, and a busy machine is no failure.
          testTimeout: 60_000,
          hookTimeout: 60_000,
        },
      },
      {
        // Of the website, once `npm run docs:build` has built it.
        test: { name: 'site', include: ['tests/site/*.site.test.ts'], testTimeout: 60_000, hookTimeout: 60_000 },
      },
      {
        test: {
          name: 'integration',
          include: ['**/*.int.test.ts'],
          exclude: ['**/node_modules/**'],
          // For what hangs; some tests start servers again and again, which takes long on a busy machine.
          testTimeout: 300_000,
          hookTimeout: 300_000,
          // Most of their time is waiting for servers, leases and restarts.
          fileParallelism: true,
          maxWorkers: 2,
        },
      },
    ],
  },
});
