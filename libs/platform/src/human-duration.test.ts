import { expect, test } from 'vitest';
import { humanDuration } from './human-duration.ts';

const [s, m, h, d, y] = [1_000, 60_000, 3_600_000, 86_400_000, 365 * 86_400_000];

test.each([
  [-5, '0s'],
  [999, '0s'],
  [119.9 * s, '119s'],
  [2 * m, '2m'],
  [5 * m + 10 * s, '5m10s'],
  [10 * m + 10 * s, '10m'],
  [179 * m, '179m'],
  [3 * h, '3h'],
  [7 * h + 59 * m, '7h59m'],
  [47 * h, '47h'],
  [2 * d, '2d'],
  [3 * d + 4 * h, '3d4h'],
  [8 * d + 4 * h, '8d'],
  [729 * d, '729d'],
  [2 * y + 3 * d, '2y3d'],
  [8 * y + 3 * d, '8y'],
])('%d ms are %s, as kubectl shows them', (ms, text) => {
  expect(humanDuration(ms)).toBe(text);
});
