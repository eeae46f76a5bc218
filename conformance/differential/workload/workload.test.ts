import { seededRandom } from '@sluice/platform';
import { describe, expect, it } from 'vitest';
import { weightedSteps } from './weighted-steps.ts';
import { nextStep, Workload } from './workload.ts';

function runWorkload(seed: number, steps: number) {
  const workload = new Workload('shop', seededRandom(seed));
  return { workload, steps: Array.from({ length: steps }, () => nextStep(workload, weightedSteps).what) };
}

describe('the workload', () => {
  it('is the same for the same seed, and different for another', () => {
    expect(runWorkload(1, 300).steps).toEqual(runWorkload(1, 300).steps);
    expect(runWorkload(1, 300).steps).not.toEqual(runWorkload(2, 300).steps);
  });

  it('contains Services of all kinds, Pods in all states, Nodes, custom Endpoints and slices of users', () => {
    const steps = [1, 2, 3, 4, 5].flatMap((seed) => runWorkload(seed, 300).steps).join('\n');
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
      expect(steps).toMatch(what);
    }
  });

  it('knows which Endpoints users manage: those without a Service that has a selector', () => {
    const { workload } = runWorkload(3, 400);
    for (const { name, selects, external } of workload.services.values()) {
      expect(workload.isCustom(name)).toBe(!selects || external);
    }
    expect(workload.isCustom('of-no-service')).toBe(true);
  });
});
