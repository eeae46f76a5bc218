import { expect, test } from 'vitest';
import { compareStamps } from './change.ts';

test('a later epoch outweighs any sequence of an earlier one', () => {
  expect(compareStamps({ epoch: 2, sequence: 1 }, { epoch: 1, sequence: 999 })).toBeGreaterThan(0);
});
