import type { Controller, Mutation } from '@sluice/controllers';
import { expect, test } from 'vitest';
import { saturationCooldownMs } from './saturation-cooldown.ts';

const object = { metadata: { namespace: 'shop', name: 'web' } };
const create: Mutation = { verb: 'create', resource: 'endpoints', object };
const update: Mutation = { verb: 'update', resource: 'endpoints', object };

const plan = (controller: Controller, mutation: Mutation) => ({ controller, groups: [{ mutations: [mutation] }] });

test('an API server with spare capacity needs no cooldown', () => {
  expect(saturationCooldownMs(plan('endpoints', update), 0)).toBe(0);
});

test('Endpoints pause the longer the slower requests are, up to two seconds', () => {
  const cooldowns = [1, 10, 40, 10_000].map((excessMs) => saturationCooldownMs(plan('endpoints', update), excessMs));
  expect(cooldowns).toEqual([50, 500, 2_000, 2_000]);
});

test('Endpoints do not pause after they were created: the next change is written at once', () => {
  expect(saturationCooldownMs(plan('endpoints', create), 10_000)).toBe(0);
});

test('slices do not pause', () => {
  expect(saturationCooldownMs(plan('endpointslice', update), 10_000)).toBe(0);
  expect(saturationCooldownMs(plan('endpointslicemirroring', update), 10_000)).toBe(0);
});
