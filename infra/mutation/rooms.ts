/** A part of the repository whose mutants are tested together. */
export interface Room {
  readonly name: string;
  /** Mutants are made of the production code below this directory. */
  readonly directory: string;
  /** Test files that run against them. */
  readonly tests: readonly string[];
  /** The score to reach, in percent. */
  readonly goal: number;
}

const room = (name: string, directory: string, goal: number, ...otherTests: readonly string[]): Room => ({
  name,
  directory,
  tests: [`${directory}/**/*.test.ts`, ...otherTests],
  goal,
});

/** Core rooms first. The tests of a room must notice what breaks in it; tests of whole fleets come too late to be of use. */
export const rooms: readonly Room[] = [
  room('controllers', 'libs/controllers', 85, 'conformance/functions.test.ts'),
  room('model', 'libs/model', 85),
  room('service-state', 'libs/service-state', 85, 'services/reconciler/src/*.test.ts'),
  room('kubernetes', 'libs/kubernetes', 85),
  room('watcher', 'services/watcher', 85),
  room('reconciler', 'services/reconciler', 85),
  room('writer', 'services/writer', 85),
  room('console', 'services/console', 75),
];

/** Code of a room that has no mutants. */
export const withoutMutants: readonly string[] = [
  '**/*.test.ts',
  // Fixtures of tests.
  '**/testing/**',
  // Only re-exports.
  '**/index.ts',
];
