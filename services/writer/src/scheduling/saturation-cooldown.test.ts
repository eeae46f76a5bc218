import { expect, test } from 'vitest';
import { saturationCooldownMs } from './saturation-cooldown.ts';

test('an API server with spare capacity needs no cooldown', () => {
  expect(saturationCooldownMs('endpoints', 0)).toBe(0);
});

test('Endpoints pause the longer the slower requests are, up to two seconds', () => {
  const cooldowns = [1, 10, 40, 10_000].map((excessMs) => saturationCooldownMs('endpoints', excessMs));
  expect(cooldowns).toEqual([50, 500, 2_000, 2_000]);
});

test('slices do not pause', () => {
  expect(saturationCooldownMs('endpointslice', 10_000)).toBe(0);
  expect(saturationCooldownMs('endpointslicemirroring', 10_000)).toBe(0);
});
