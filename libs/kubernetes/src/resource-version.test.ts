import { beforeEach, describe, expect, it, test } from 'vitest';
import { isOlderVersion, ResourceVersionGuard } from './resource-version.ts';

describe('isOlderVersion', () => {
  it.each([
    ['1', '2', true],
    ['2', '1', false],
    ['2', '2', false],
    ['9', '10', true],
    ['10', '9', false],
    ['9007199254740993', '9007199254740994', true],
    ['', '5', false],
    ['5', '', false],
    ['abc', '5', false],
    ['05', '6', false],
  ])('%s < %s: %s', (a, b, expected) => {
    expect(isOlderVersion(a, b)).toBe(expected);
  });
});

describe('resource version guard', () => {
  let guard: ResourceVersionGuard;

  beforeEach(() => {
    guard = new ResourceVersionGuard('50');
  });

  const staleList = expect.objectContaining({ kind: 'retry', reason: 'StaleList' });
  const wentBack = expect.objectContaining({ kind: 'gone', reason: 'WentBack' });

  describe('a list', () => {
    test('as new as what was delivered is accepted', () => {
      expect(guard.acceptList('50')).toBe(true);
      expect(guard.acceptList('51')).toBe(true);
      expect(guard.isStale).toBe(false);
      expect(new ResourceVersionGuard('').acceptList('1')).toBe(true);
    });

    test('that is older is rejected six times, and then believed: the cluster was restored', () => {
      for (let n = 0; n < 6; n++) {
        expect(guard.minimum).toBe('50');
        expect(() => guard.acceptList('49')).toThrow(staleList);
        expect(guard.isStale).toBe(true);
      }
      expect(guard.minimum).toBe('');
      expect(guard.acceptList('49')).toBe(false);
    });

    test('counts as stale also when a server responds that it is behind', () => {
      for (let n = 0; n < 6; n++) guard.countStaleResponse();
      expect(guard.minimum).toBe('');
      expect(guard.acceptList('49')).toBe(false);
    });

    test('that was delivered ends the count, and becomes the minimum', () => {
      for (let n = 0; n < 6; n++) guard.countStaleResponse();
      guard.advance('10');
      expect([guard.minimum, guard.isStale]).toEqual(['10', false]);
      expect(() => guard.acceptList('9')).toThrow(staleList);
    });
  });

  test('a quorum read must not be older than what was delivered', () => {
    expect(() => guard.checkCurrent('49')).toThrow(wentBack);
    expect(() => guard.checkCurrent('50')).not.toThrow();
    expect(() => guard.checkCurrent('51')).not.toThrow();
  });

  test('a bookmark must not be older than the last event', () => {
    expect(() => guard.checkBookmark('59', '60')).toThrow(wentBack);
    expect(() => guard.checkBookmark('60', '60')).not.toThrow();
    expect(() => guard.checkBookmark('61', '60')).not.toThrow();
  });

  test.each([
    ['9', '10', true],
    ['10', '10', true],
    ['11', '10', false],
    ['odd', 'odd', true],
    ['odd', '10', false],
  ])('an event of version %s after %s is outdated: %s', (version, current, expected) => {
    expect(guard.isOutdated(version, current)).toBe(expected);
  });

  describe('watches that send nothing', () => {
    test('are suspicious every second time', () => {
      for (let n = 0; n < 2; n++) {
        expect(() => guard.countSilentWatch()).not.toThrow();
        expect(() => guard.countSilentWatch()).toThrow(wentBack);
      }
    });

    test('do not count together with one before something was delivered', () => {
      guard.countSilentWatch();
      guard.advance('51');
      expect(() => guard.countSilentWatch()).not.toThrow();
    });
  });
});
