/** The global object through which instrumented code asks which mutant is active, and reports what it reaches. */
interface Namespace {
  activeMutant?: string | undefined;
  /** Reaching the active mutant more often than `hitLimit` throws, which ends loops that mutants made endless. */
  hitCount?: number;
  hitLimit?: number;
  currentTestId?: string | undefined;
  mutantCoverage?: {
    readonly static: Record<string, number>;
    readonly perTest: Record<string, Record<string, number>>;
  };
}

const named: { __stryker__?: Namespace } = globalThis as object;
named.__stryker__ ??= {};
const namespace: Namespace = named.__stryker__;

/** Hits that belong to no test, or to a run with a mutant. */
const NOBODY = 'nobody';

/** The mutants that were reached while test files were loaded. */
export function loadedMutants(): readonly string[] {
  const mutants = Object.keys(namespace.mutantCoverage?.static ?? {});
  namespace.currentTestId = NOBODY;
  return mutants;
}

/** From now on no mutant is active, and hits count for the test. */
export function measure(test: string): void {
  namespace.activeMutant = undefined;
  namespace.currentTestId = test;
}

/** Ends `measure`, and returns the hits. */
export function measured(test: string): Readonly<Record<string, number>> {
  namespace.currentTestId = NOBODY;
  return namespace.mutantCoverage?.perTest[test] ?? {};
}

/** Activates a mutant that is usually hit `hits` times, or none. */
export function activate(mutant: string | undefined, hits = 0): void {
  namespace.activeMutant = mutant;
  namespace.hitCount = 0;
  namespace.hitLimit = 1_000 + 100 * hits;
}

export const isOverHitLimit = (): boolean => (namespace.hitCount ?? 0) > (namespace.hitLimit ?? Infinity);

/** Whether the active mutant was reached. */
export const wasReached = (): boolean => (namespace.hitCount ?? 0) > 0;
