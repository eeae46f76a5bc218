import { expect, test } from 'vitest';
import { timeSpent } from './time-spent.ts';

const span = (name: string, startedAt: number, durationMs: number) => ({ name, startedAt, durationMs });
const put = 'PUT /apis/discovery.k8s.io/v1/namespaces/{namespace}/endpointslices/{name}';

test('counts each moment once, up to the last response', () => {
  const spans = [
    span('watch Pod', 0, 1),
    span('publish changes', 1, 3),
    span('process changes', 2, 1),
    span('decide endpointslice', 24, 1),
    span('commit', 25, 5),
    span('publish mutations', 30, 10),
    span('process mutations', 32, 68),
    span(put, 40, 20),
    span(put, 70, 20),
    span('publish changes', 90, 5),
    span('process changes', 95, 5),
  ];
  expect(timeSpent(spans)).toEqual([
    { where: 'API server', ms: 40 },
    { where: 'waiting', ms: 20 },
    { where: 'writer queue', ms: 18 },
    { where: 'store', ms: 5 },
    { where: 'bus', ms: 4 },
    { where: 'Sluice', ms: 3 },
  ]);
});

test('ends with its last span if nothing was written', () => {
  expect(timeSpent([span('watch Pod', 0, 1), span('process changes', 2, 1)])).toEqual([
    { where: 'Sluice', ms: 2 },
    { where: 'waiting', ms: 1 },
  ]);
});

test('is empty for spans of other programs', () => {
  expect(timeSpent([span('other', 0, 1)])).toEqual([]);
});
