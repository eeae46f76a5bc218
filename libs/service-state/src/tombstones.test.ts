import { describe, expect, test } from 'vitest';
import { isDeleted, type Tombstone, withoutTombstone, withTombstone } from './tombstones.ts';

const now = 1_000_000;
const observed = (uid: string, resourceVersion: string): Tombstone => ({ uid, resourceVersion });
const reported = (uid: string, reportedAt = now): Tombstone => ({ uid, reportedAt });

describe('an object whose deletion a watcher has published', () => {
  const tombstones = [observed('a', '99'), observed('b', '100')];

  test.each<[string, readonly string[], boolean]>([
    ['in an older version', ['9'], true],
    ['in the version of the deletion', ['100'], true],
    ['in a newer version', ['101'], false],
    ['in an older version, by a list of before', ['9', '100'], true],
    ['in an older version, by a newer list', ['9', '101'], false],
    ['by an Outcome', [], true],
  ])('is seen %s: deleted is %s', (_, seenAt, expected) => {
    expect(isDeleted(tombstones, 'b', now, ...seenAt)).toBe(expected);
  });

  test('does not exist for others', () => {
    expect(isDeleted(tombstones, 'c', now, '1')).toBe(false);
  });
});

describe('an object whose deletion only an Outcome has reported', () => {
  test.each<[number, boolean]>([
    [0, true],
    [299_999, true],
    [300_000, false],
    [-299_999, true],
    [-300_000, false],
  ])('may still be published by a watcher that is behind: after %i ms, deleted is %s', (after, expected) => {
    expect(isDeleted([reported('a')], 'a', now + after, '999')).toBe(expected);
    expect(isDeleted([reported('a')], 'a', now + after)).toBe(expected);
  });
});

test.each<[string, Tombstone, Tombstone, Tombstone]>([
  ['a newer version', observed('a', '99'), observed('a', '100'), observed('a', '100')],
  ['an older version', observed('a', '99'), observed('a', '98'), observed('a', '99')],
  ['its first version', reported('a'), observed('a', '98'), observed('a', '98')],
  ['a later report', reported('a'), reported('a', now + 1), reported('a', now + 1)],
  ['a report, where a version is known', observed('a', '99'), reported('a'), observed('a', '99')],
])('a second deletion of an object with %s', (_, first, second, expected) => {
  expect(withTombstone([first], second)).toEqual([expected]);
});

test('the last 64 are kept, and none without a uid', () => {
  let kept: readonly Tombstone[] = [];
  for (let i = 0; i < 70; i++) kept = withTombstone(kept, observed(`uid-${i}`, '1'));
  expect([kept.length, kept[0]?.uid, kept.at(-1)?.uid]).toEqual([64, 'uid-6', 'uid-69']);
  expect(withTombstone(kept, observed('', '1'))).toBe(kept);
});

test('an object that exists again has none', () => {
  const tombstones = [observed('a', '99'), reported('b')];
  expect(withoutTombstone(tombstones, 'a')).toEqual([reported('b')]);
  expect(withoutTombstone(tombstones, 'c')).toBe(tombstones);
});
