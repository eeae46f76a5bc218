import type { Suites } from './run-suites.ts';

/** Groups run concurrently, because they mostly wait for servers or for leases to expire. */
export const repeatedSuites: Readonly<Record<string, Suites>> = {
  'in memory': {
    projects: ['unit'],
    patterns: [
      'conformance/memory.test.ts',
      'tests/{crash,wrong-state}.test.ts',
      'tests/simulation/simulation.test.ts',
    ],
  },
  Kafka: { projects: ['integration'], patterns: ['conformance/*kafka*.int.test.ts'] },
  'NATS and Redis': {
    projects: ['integration'],
    patterns: ['conformance/*{jetstream,redis}*.int.test.ts', 'conformance/full-disk.int.test.ts'],
  },
  fleets: {
    projects: ['integration'],
    patterns: ['tests/{fleet,full-stream,lease-thread,restart}.int.test.ts'],
  },
};
