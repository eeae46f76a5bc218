import { expect, test } from 'vitest';
import { lineChart } from './line-chart.ts';

const chart = lineChart('Memory & time', 'Pods', [
  {
    name: 'MB',
    points: [
      [1_000, 100],
      [10_000, 1_000],
    ],
  },
  {
    name: 's',
    points: [
      [1_000, 1],
      [10_000, 1],
    ],
  },
]);
const lines = [...chart.matchAll(/<polyline points="([^"]*)"/g)].map(([, points = '']) =>
  points.split(' ').map((point) => point.split(',').map(Number)),
);

test('draws a line per series between the powers of ten', () => {
  expect(lines).toEqual([
    [
      [60, 136],
      [520, 56],
    ],
    [
      [60, 296],
      [520, 296],
    ],
  ]);
  for (const tick of ['1', '10', '100', '1,000', '10,000']) expect(chart).toContain(`>${tick}</text>`);
});

test('escapes texts', () => {
  expect(chart).toContain('Memory &amp; time');
});
