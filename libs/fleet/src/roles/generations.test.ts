import { describe, expect, it, test } from 'vitest';
import { formatGenerations, logsOf, parseGenerations, storedName } from './generations.ts';

describe('the generations of partitions', () => {
  it.each(['64', '[{"partitions":64,"since":0},{"partitions":256,"since":1700000000000}]'])(
    'are stored as they were read: %s',
    (text) => expect(formatGenerations(parseGenerations(text))).toBe(text),
  );

  it.each(['', 'many', '0', '-1', '1.5', '[]', 'null', '[{"partitions":0,"since":0}]', '[{"partitions":4}]'])(
    'are refused if another version has stored %j',
    (text) => expect(() => parseGenerations(text)).toThrow('cannot read the partitions of this fleet'),
  );
});

test('the first generation has the names of a fleet that was never repartitioned', () => {
  expect([logsOf('sluice', 0), storedName('reconciler/5', 0), storedName('writer', 0)]).toEqual([
    ...['sluice', 'reconciler/5', 'writer'],
  ]);
  expect([logsOf('sluice', 2), storedName('reconciler/5', 2), storedName('writer', 2)]).toEqual([
    ...['sluice-g2', 'reconciler/g2/5', 'writer/g2'],
  ]);
  expect(storedName('watcher/uid', 1)).toBe('watcher/g1/uid');
});
