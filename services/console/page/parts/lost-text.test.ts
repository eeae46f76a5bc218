import { expect, test } from 'vitest';
import { lostText } from './lost-text.ts';

const minute = 60_000;
const policy = { action: 'age-out', maxAgeMs: 10 * minute } as const;

test.each([
  [4 * minute, policy, 'not answering, known up to 4m ago; its endpoints count for another 6m'],
  [10 * minute, policy, 'not answering, known up to 10m ago; its endpoints no longer count (limit: 10m)'],
  [4 * minute, { ...policy, action: 'keep' }, 'not answering, known up to 4m ago; its endpoints count without a limit'],
  [4 * minute, { ...policy, action: 'drop' }, 'not answering, known up to 4m ago; its endpoints do not count'],
] as const)('after %d ms with the policy %j: %s', (ageMs, { action, maxAgeMs }, text) => {
  expect(lostText({ since: 1_000, reason: 'not answering' }, { action, maxAgeMs }, 1_000 + ageMs)).toBe(text);
});

test('says why nothing is known, also without an age', () => {
  expect(lostText({ since: 0, reason: 'not watched' }, policy, 1_000)).toBe('not watched; nothing is known of it');
  expect(lostText({ since: 1_000, reason: 'not watched' }, policy, 1_000)).toMatch(/^not watched, known up to/);
});
