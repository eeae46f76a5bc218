import { expect, test } from 'vitest';
import { markedFormat } from '../testing/marked-format.ts';
import type { ActivityList } from '../view/schemas.ts';
import { listActivity } from './list-activity.ts';

const now = Date.parse('2026-01-01T12:00:00');
const format = { ...markedFormat(now), width: 120 };

const cart = {
  ...{ cluster: 'uid', clusterName: 'east', namespace: 'shop', name: 'cart', services: 1, writes: 15, failed: 2 },
  ...{ endpoints: 40, p50Ms: 12, p99Ms: 2_500, lastAt: now - 1_000 },
};
const list = (given: Partial<ActivityList> = {}): ActivityList => ({
  ...{ since: now - 300_000, until: now, total: 1, items: [cart] },
  ...given,
});
const cells = (text: string) =>
  text
    .trimEnd()
    .split('\n')
    .map((line) => line.split(/ {2,}/));

test('lists Services with their rate of writes and latencies', () => {
  expect(cells(listActivity(list({ total: 7 }), 'service', format))).toEqual([
    ['CLUSTER', 'NAMESPACE', 'SERVICE', 'WRITES', 'PER MIN', 'FAILED', 'ENDPOINTS', 'P50', 'P99', 'LAST'],
    ['east', 'shop', 'cart', '15', '3.0', '2', '40', '12 ms', '2.5 s', '11:59:59.000'],
    ['Writes from 11:55:00.000 to 12:00:00.000, 1 of 7 Services.'],
  ]);
});

test('lists clusters with their number of Services; a latency may be unknown', () => {
  const east = { ...cart, namespace: '', name: '', services: 4, p50Ms: null, p99Ms: null };
  const [head, first] = cells(listActivity(list({ items: [east] }), 'cluster', format));
  expect(head).toEqual(['CLUSTER', 'SERVICES', 'WRITES', 'PER MIN', 'FAILED', 'ENDPOINTS', 'P50', 'P99', 'LAST']);
  expect(first).toEqual(['east', '4', '15', '3.0', '2', '40', '11:59:59.000']);
});

test('says that nothing was written', () => {
  expect(listActivity(list({ total: 0, items: [] }), 'service', format)).toBe(
    'Nothing was written from 11:55:00.000 to 12:00:00.000.\n',
  );
});
