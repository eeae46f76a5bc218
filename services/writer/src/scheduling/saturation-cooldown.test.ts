import type { Controller, Mutation } from '@sluice/model';
import { expect, test } from 'vitest';
import { saturationCooldownMs } from './request-limit.ts';

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

test.each(['endpointslice', 'endpointslicemirroring'] as const)('%s pauses less, up to half a second', (controller) => {
  const cooldowns = [1, 10, 250, 10_000].map((excessMs) => saturationCooldownMs(plan(controller, update), excessMs));
  expect(cooldowns).toEqual([2, 20, 500, 500]);
});

test.each(['endpoints', 'endpointslice'] as const)(
  '%s does not pause after a create: the next change is written at once',
  (controller) => {
    expect(saturationCooldownMs(plan(controller, create), 10_000)).toBe(0);
  },
);

test('one update among other writes is enough', () => {
  const mutations = [create, update];
  expect(saturationCooldownMs({ controller: 'endpoints', groups: [{ mutations }] }, 10)).toBe(500);
  const groups = [{ mutations: [create] }, { mutations: [update] }, { mutations: [] }];
  expect(saturationCooldownMs({ controller: 'endpoints', groups }, 10)).toBe(500);
});
