import { seededRandom } from '@sluice/runtime';
import { describe, expect, it } from 'vitest';
import { repertoire } from './repertoire.ts';
import { nextStep, World } from './world.ts';

function workload(seed: number, steps: number) {
  const world = new World('shop', seededRandom(seed));
  return { world, told: Array.from({ length: steps }, () => nextStep(world, repertoire).what) };
}

describe('the workload', () => {
  it('is repeated by its seed, and another with another one', () => {
    expect(workload(1, 300).told).toEqual(workload(1, 300).told);
    expect(workload(1, 300).told).not.toEqual(workload(2, 300).told);
  });

  it('has Services of all kinds, Pods in all states, Nodes, custom Endpoints and slices of users', () => {
    const told = [1, 2, 3, 4, 5].flatMap((seed) => workload(seed, 300).told).join('\n');
    for (const what of [
      /service \S+ created: selects/,
      /service \S+ created: no selector/,
      /headless/,
      /dual-stack/,
      /PreferClose/,
      /PreferSameNode/,
      /topology mode Auto/,
      /publishNotReadyAddresses/,
      /pod \S+ ready/,
      /pod \S+ not ready/,
      /no address/,
      /finished/,
      /terminating/,
      /on node-missing created/,
      /node \S+ deleted/,
      /node \S+ to zone/,
      /endpoints \S+ created/,
      /endpoints \S+ deleted/,
      /slice \S+ of a user/,
    ]) {
      expect(told).toMatch(what);
    }
  });

  it('knows who keeps Endpoints: a user, unless a Service with a selector does', () => {
    const { world } = workload(3, 400);
    for (const { name, selects, external } of world.services.values()) {
      expect(world.isCustom(name)).toBe(!selects || external);
    }
    expect(world.isCustom('of-no-service')).toBe(true);
  });
});
