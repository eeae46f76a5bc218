import { say } from '@sluice/program';
import type { PlantedBug } from '@sluice/program/planted-bug';
import { type Hunt, hunt } from '../hunt.ts';
import { failUnitTests, roomOf } from '../unit-tests.ts';

export interface MeasureOptions {
  /** Seeds at most for each bug. */
  readonly seeds: number;
  /** Bugs that are hunted at a time. */
  readonly processes: number;
  /** Also run the unit tests of the bug's room. */
  readonly unit: boolean;
}

/** What has caught a bug. */
export interface Measured extends Hunt {
  /** Whether a unit test of its room fails; undefined: none has run. */
  readonly failsUnitTests: boolean | undefined;
}

/**
 * Hunts each bug with seeds, and runs unit tests with it. The results are in the order of the bugs.
 *
 * @throws Error if unit tests fail without a bug
 */
export async function measure(
  bugs: readonly PlantedBug[],
  { seeds, processes, unit }: MeasureOptions,
): Promise<readonly Measured[]> {
  for (const room of unit ? new Set(bugs.map(roomOf)) : [])
    if (await failUnitTests(room)) throw new Error(`the unit tests of ${room} fail without a bug`);
  const measured = new Map<PlantedBug, Measured>();
  const remaining = bugs.values();
  const work = async () => {
    for (const bug of remaining) {
      const found = await hunt(bug, { seeds, processes: 1 });
      const result = { ...found, failsUnitTests: unit ? await failUnitTests(roomOf(bug), bug) : undefined };
      measured.set(bug, result);
      const unitTests = result.failsUnitTests === undefined ? '' : `, ${describeUnit(result)} by unit tests`;
      say(
        `${found.invariant ?? 'NOT FOUND'} after ${found.seeds} seeds, ${found.seconds.toFixed(1)} s${unitTests}: ${bug.name}`,
      );
    }
  };
  await Promise.all(Array.from({ length: processes }, work));
  return bugs.flatMap((bug) => measured.get(bug) ?? []);
}

export const describeUnit = ({ failsUnitTests }: Pick<Measured, 'failsUnitTests'>): string =>
  failsUnitTests === undefined ? '' : failsUnitTests ? 'found' : 'not found';

/** How many bugs of a room were caught. */
export interface Rate {
  readonly room: string;
  readonly bugs: number;
  readonly bySeeds: number;
  /** By seeds, unit tests or both; undefined if no unit test has run. */
  readonly byEither: number | undefined;
}

/** Of each room, in order, and of all. */
export function ratesOf(measured: readonly Measured[]): readonly Rate[] {
  const rooms = Map.groupBy(measured, ({ bug }) => roomOf(bug));
  return [...rooms, ['all', measured] as const].map(([room, results]) => ({
    room,
    bugs: results.length,
    bySeeds: results.filter(({ invariant }) => invariant !== undefined).length,
    byEither: results.every(({ failsUnitTests }) => failsUnitTests === undefined)
      ? undefined
      : results.filter(({ invariant, failsUnitTests }) => invariant !== undefined || failsUnitTests === true).length,
  }));
}
