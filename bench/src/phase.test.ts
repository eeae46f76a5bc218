import { describe, expect, it } from 'vitest';
import { addressFlips } from './address-flips.ts';
import { customEndpoints } from './custom-endpoints.ts';
import { coldAndWarm, nodeDown, rollingRestart, secondsAt } from './phase.ts';
import { PodPool } from './pod-pool.ts';
import { samplesForP99 } from './statistics.ts';

const pool = new PodPool([], { next: () => 0 });

describe('phases', () => {
  it('a rolling restart replaces each Pod once, across all Services, with a new address', () => {
    const shape = { services: 2, pods: 3 };
    const phase = rollingRestart(shape, 50);
    const next = phase.source(pool);
    const made = Array.from({ length: phase.changes }, () => next().pod);
    expect(made.map(({ name }) => name)).toEqual([
      ...['service-0-0-next', 'service-1-0-next', 'service-0-1-next'],
      ...['service-1-1-next', 'service-0-2-next', 'service-1-2-next'],
    ]);
    expect(new Set(made.map(({ index }) => index)).size).toBe(6);
    expect(Math.min(...made.map(({ index }) => index))).toBe(6);
    expect(() => next()).toThrow('no Pods left');
  });

  it('a Node going down affects a tenth of the Pods', () => {
    const phase = nodeDown({ services: 100, pods: 10 });
    expect(phase.changes).toBe(100);
    const next = phase.source(pool);
    const pod = { namespace: 'bench-0', name: 'service-0-0', service: 'service-0', index: 0, node: 0 };
    expect(next()).toEqual({ pod, ready: false });
  });

  it('address flips change one address at a time', () => {
    const shape = { services: 2, pods: 2, custom: true };
    expect(customEndpoints(shape)).toMatchObject([
      { metadata: { namespace: 'bench-0', name: 'service-0' } },
      { metadata: { namespace: 'bench-1', name: 'service-1' } },
    ]);
    const next = addressFlips(shape, 20, 1).source(pool);
    expect(Array.from({ length: 3 }, () => next()).map(({ pod, ready }) => `${pod.name} ${ready}`)).toEqual([
      ...['service-0-0 false', 'service-1-0 false', 'service-0-0 true'],
    ]);
  });

  it.each([
    [20, 5, 11],
    [20, 3, 18],
    [100, 2, 10],
    [20, 1, 53],
  ])('rounds at %i/s, %i of them, give enough samples for a p99: %i s each', (rate, rounds, seconds) => {
    expect(secondsAt(rate, rounds, 10)).toBe(seconds);
    expect(seconds * rate * rounds).toBeGreaterThanOrEqual(samplesForP99);
  });

  it('flips are measured cold and, after 3,000 flips, warm', () => {
    const phases = coldAndWarm([20, 100], () => 10);
    expect(phases.map(({ name, changes, isWarmUp }) => [name, changes, isWarmUp ?? false])).toEqual([
      ['20 flips/s, cold', 200, false],
      ['100 flips/s, cold', 1_000, false],
      ['warm-up', 1_800, true],
      ['20 flips/s, warm', 200, false],
      ['100 flips/s, warm', 1_000, false],
    ]);
    expect(coldAndWarm([100], () => 30).map(({ name }) => name)).toEqual(['100 flips/s, cold', '100 flips/s, warm']);
    expect(coldAndWarm([], () => 10)).toEqual([]);
  });
});
