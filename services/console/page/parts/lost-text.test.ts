import { expect, test } from 'vitest';
import { lostText } from './lost-text.ts';

const minute = 60_000;
const policy = { action: 'age-out', maxAgeMs: 10 * minute } as const;

test.each([
  [4 * minute, policy, 'not answering for 4m; its last known endpoints count for another 6m'],
  [10 * minute, policy, 'not answering for 10m; its last known endpoints no longer count (limit: 10m)'],
  [4 * minute, { ...policy, action: 'keep' }, 'not answering for 4m; its last known endpoints count until it answers'],
  [4 * minute, { ...policy, action: 'drop' }, 'not answering for 4m; its last known endpoints do not count'],
] as const)('after %d ms with the policy %j: %s', (ageMs, { action, maxAgeMs }, text) => {
  expect(lostText({ lostSince: 1_000 }, { action, maxAgeMs }, 1_000 + ageMs)).toBe(text);
});

test('a cluster that was never watched has no age', () => {
  expect(lostText({ lostSince: 0 }, policy, 1_000)).toBe('not watched yet; nothing is known of it');
});
