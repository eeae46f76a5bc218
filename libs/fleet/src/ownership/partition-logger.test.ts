import { VirtualClock } from '@sluice/platform';
import { type LogLine, recordingLogger } from '@sluice/platform/testing';
import { beforeEach, describe, expect, test } from 'vitest';
import { partitionLogger, ranges } from './partition-logger.ts';

describe('partition logger', () => {
  const message = 'store may have lost commits; resyncing partition';
  let clock: VirtualClock;
  let lines: LogLine[];
  let logger: ReturnType<typeof partitionLogger>;

  beforeEach(() => {
    clock = new VirtualClock(0);
    lines = [];
    logger = partitionLogger(recordingLogger(lines), clock);
  });

  test('a warning of many partitions takes two lines', () => {
    for (const partition of [3, 0, 1, 2, 7]) logger.with({ partition }).warn(message, { plans: partition });
    expect(lines).toEqual([{ level: 'warn', message, fields: { partition: 3, plans: 3 } }]);
    clock.step(1_000);
    expect(lines.slice(1)).toEqual([{ level: 'warn', message, fields: { partitions: '0-2,7', count: 4 } }]);
  });

  test('a warning of one partition takes one line, and later ones are logged again', () => {
    for (let i = 0; i < 3; i++) logger.warn(message, { partition: 1 });
    clock.step(1_000);
    expect(lines).toHaveLength(1);
    logger.warn(message, { partition: 1 });
    expect(lines).toHaveLength(2);
  });

  describe('passes unchanged', () => {
    test.each([
      ['warnings about a key', () => logger.with({ key: 'c/shop/web' })],
      ['warnings of no partition', () => logger],
    ])('%s', (_, of) => {
      for (let i = 0; i < 3; i++) of().warn(message);
      clock.step(1_000);
      expect(lines).toHaveLength(3);
    });

    test.each(['debug', 'info', 'error'] as const)('lines of level %s', (level) => {
      for (const partition of [1, 2, 3]) logger.with({ partition })[level](message);
      clock.step(1_000);
      expect(lines).toHaveLength(3);
    });
  });
});

test.each([
  [['3', '0', '1', '2', '10', '7'], '0-3,7,10'],
  [['5'], '5'],
  [['cluster'], 'cluster'],
  [Array.from({ length: 12 }, (_, i) => `c${i}`), 'c0,c1,c2,c3,c4,c5,c6,c7,c8,c9 and 2 more'],
  [[], ''],
])('%j are %s', (scopes, text) => {
  expect(ranges(scopes)).toBe(text);
});
