import { describe, expect, it } from 'vitest';
import { addressFlips } from './address-flips.ts';
import { customEndpoints } from './custom-endpoints.ts';
import { nodeDown, rollingRestart } from './phase.ts';
import { PodPool } from './pod-pool.ts';

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
    expect(next()).toEqual({ pod: { name: 'service-0-0', service: 'service-0', index: 0, node: 0 }, ready: false });
  });

  it('address flips change one address at a time', () => {
    const shape = { services: 2, pods: 2, custom: true };
    expect(customEndpoints(shape).map(({ service }) => service)).toEqual(['service-0', 'service-1']);
    const next = addressFlips(shape, 20, 1).source(pool);
    expect(Array.from({ length: 3 }, () => next()).map(({ pod, ready }) => `${pod.name} ${ready}`)).toEqual([
      ...['service-0-0 false', 'service-1-0 false', 'service-0-0 true'],
    ]);
  });
});
