import { expect, test } from 'vitest';
import { listOutages } from './print-outages.ts';

const now = new Date(2026, 0, 1, 12, 0, 0).getTime();
const format = { width: 200, now };
const outage = { cluster: 'uid', clusterName: 'west', namespace: 'shop', name: 'web', from: now - 60_000, to: now };

test('each outage is a line', () => {
  const text = listOutages(
    [
      { ...outage, isStartKnown: true, event: 'Pod shop/web-1 deleted' },
      { ...outage, to: null, isStartKnown: false, event: null },
    ],
    format,
  );
  expect(text.split('\n').map((line) => line.trimEnd().split(/ {2,}/))).toEqual([
    ['CLUSTER', 'NAMESPACE', 'SERVICE', 'SINCE', 'DURATION', 'LAST EVENT BEFORE'],
    ['west', 'shop', 'web', '11:59:00.000', '1 min 0 s', 'Pod shop/web-1 deleted'],
    ['west', 'shop', 'web', 'before 11:59:00.000', 'continues'],
    [''],
  ]);
});

test('none is said so', () => {
  expect(listOutages([], format)).toBe('No Service was without a ready endpoint in this period.\n');
});
