import { expect, test } from 'vitest';
import { comparePlans } from './planned-mutations.ts';

test('plans of one epoch are ordered by number', () => {
  expect(comparePlans({ epoch: 1, number: 2 }, { epoch: 1, number: 3 })).toBeLessThan(0);
});
