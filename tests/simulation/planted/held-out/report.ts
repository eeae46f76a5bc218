import { table } from '../table.ts';
import { describeUnit, type Measured, ratesOf } from './measure.ts';

/** Tables of the bugs and of the rates, as docs/contributing/simulation.md shows them. */
export function formatMeasured(measured: readonly Measured[]): string {
  const hasUnit = measured.some(({ failsUnitTests }) => failsUnitTests !== undefined);
  const bugs = measured.map((result) => [
    result.bug.name,
    result.bug.file.replace('/src/', '/'),
    String(result.seeds),
    result.seconds.toFixed(1),
    result.invariant ?? 'not found',
    ...(hasUnit ? [describeUnit(result)] : []),
  ]);
  const rates = ratesOf(measured).map(({ room, bugs, bySeeds, byEither }) => [
    room,
    ...[String(bugs), share(bySeeds, bugs)],
    ...(byEither === undefined ? [] : [share(byEither, bugs)]),
  ]);
  return [
    table(['held-out bug', 'file', 'seeds', 'seconds', 'invariant', ...(hasUnit ? ['unit tests'] : [])], bugs),
    table(['room', 'bugs', 'by seeds', ...(hasUnit ? ['with unit tests'] : [])], rates),
  ].join('\n\n');
}

export const jsonOfMeasured = (measured: readonly Measured[]): string =>
  JSON.stringify(
    {
      rates: ratesOf(measured),
      bugs: measured.map(({ bug: { name, file }, seeds, seconds, invariant = null, failsUnitTests = null }) => ({
        ...{ name, file, seeds, seconds, invariant, failsUnitTests },
      })),
    },
    undefined,
    2,
  );

const share = (count: number, of: number): string => `${count} (${Math.round((100 * count) / of)} %)`;
