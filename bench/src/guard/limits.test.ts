import { expect, it } from 'vitest';
import { type Figures, isRepeated, isWithin, limitOf, measureUntilWithin } from './limits.ts';

const recorded = { cpu: 10, p50: 2 };

/** Measures these values, one after the other, and notes what was asked for. */
function sequence(...values: readonly Figures[]) {
  const asked: (readonly string[])[] = [];
  const measure = async (names: readonly string[]) => {
    asked.push(names);
    return values[asked.length - 1] ?? {};
  };
  return { asked, measure };
}

it('measures once if all figures are within their limits', async () => {
  const { asked, measure } = sequence({ cpu: 15, p50: 3 });
  expect(await measureUntilWithin(recorded, ['cpu', 'p50'], measure)).toEqual({ cpu: 15, p50: 3 });
  expect(asked).toEqual([['cpu', 'p50']]);
});

it('measures again only what exceeds its limit', async () => {
  const { asked, measure } = sequence({ cpu: 40, p50: 3 }, { cpu: 12, p50: 99 });
  expect(await measureUntilWithin(recorded, ['cpu', 'p50'], measure)).toEqual({ cpu: 12, p50: 3 });
  expect(asked).toEqual([['cpu', 'p50'], ['cpu']]);
});

it('gives up after three measurements, and keeps the least value', async () => {
  const { asked, measure } = sequence({ cpu: 18 }, { cpu: 16 }, { cpu: 17 }, { cpu: 1 });
  const found = await measureUntilWithin(recorded, ['cpu'], measure);
  expect(found).toEqual({ cpu: 16 });
  expect(asked).toHaveLength(3);
  expect(isWithin(recorded, 'cpu', 16)).toBe(false);
});

it('finds nothing within the limit of a figure that is not recorded, or not a number', () => {
  expect(limitOf(recorded, 'cpu')).toBe(15);
  expect(isWithin(recorded, 'other', 0)).toBe(false);
  expect(isWithin(recorded, 'cpu', Number.NaN)).toBe(false);
});

it('repeats a recorded figure within a tenth', () => {
  const found = [8.9, 9.2, 10, 10.9, 11.1, Number.NaN].map((value) => isRepeated(recorded, 'cpu', value));
  expect(found).toEqual([false, true, true, true, false, false]);
  expect(isRepeated(recorded, 'other', 10)).toBe(false);
});
