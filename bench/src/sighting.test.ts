import { describe, expect, it } from 'vitest';
import { Convergence } from './convergence.ts';
import { parseSighting, type Sighting } from './sighting.ts';

const ref = (name: string) => ({ targetRef: { kind: 'Pod', name } });
const slice = (endpoints: unknown) => ({
  kind: 'EndpointSlice',
  metadata: { name: 'service-0-x', resourceVersion: '7', labels: { 'kubernetes.io/service-name': 'service-0' } },
  endpoints,
});
const line = (type: string, object: object) => JSON.stringify({ type, object });

describe('a sighting', () => {
  it('tells of the Pods in an EndpointSlice; a missing condition means ready', () => {
    const endpoints = [{ ...ref('a'), conditions: { ready: false } }, { ...ref('b'), conditions: {} }, ref('c'), {}];
    expect(parseSighting(line('MODIFIED', slice(endpoints)))).toEqual({
      from: 'slice',
      name: 'service-0-x',
      service: 'service-0',
      gone: false,
      resourceVersion: '7',
      pods: [
        { name: 'a', ready: false },
        { name: 'b', ready: true },
        { name: 'c', ready: true },
      ],
    });
    expect(parseSighting(line('ADDED', slice(null)))?.pods).toEqual([]);
  });

  it('tells of the Pods in Endpoints', () => {
    const subsets = [{ addresses: [ref('a')], notReadyAddresses: [ref('b')] }, { addresses: [ref('c')] }];
    const object = { kind: 'Endpoints', metadata: { name: 'service-1', resourceVersion: '7' }, subsets };
    expect(parseSighting(line('DELETED', object))).toEqual({
      from: 'endpoints',
      name: 'service-1',
      service: 'service-1',
      gone: true,
      resourceVersion: '7',
      pods: [
        { name: 'a', ready: true },
        { name: 'b', ready: false },
        { name: 'c', ready: true },
      ],
    });
  });

  it('is nothing for a bookmark and an error for an error', () => {
    expect(parseSighting(line('BOOKMARK', slice([])))).toBeUndefined();
    expect(() => parseSighting(line('ERROR', { kind: 'Status', code: 410 }))).toThrow(/410/);
  });
});

describe('convergence', () => {
  const see = (from: Sighting['from'], name: string, ready: number, gone = false): Sighting => ({
    from,
    name,
    service: 'service-0',
    gone,
    resourceVersion: '7',
    pods: Array.from({ length: ready }, (_, index) => ({ name: `p${index}`, ready: true })),
  });

  it('wants all Pods in the slices together, and in the Endpoints', () => {
    const convergence = new Convergence({ services: 1, pods: 3 });
    convergence.see(see('slice', 'x', 2));
    convergence.see(see('endpoints', 'service-0', 3));
    expect(convergence.complete).toBe(false);
    expect(convergence.missing).toEqual(['service-0']);
    convergence.see(see('slice', 'y', 1));
    expect(convergence.complete).toBe(true);
  });

  it('does not count slices that are gone, nor Pods that are not ready', () => {
    const convergence = new Convergence({ services: 1, pods: 2 });
    convergence.see(see('slice', 'x', 1));
    convergence.see(see('slice', 'x', 1, true));
    convergence.see({ ...see('slice', 'y', 0), pods: [{ name: 'a', ready: false }] });
    convergence.see(see('slice', 'z', 1));
    convergence.see(see('endpoints', 'service-0', 2));
    expect(convergence.complete).toBe(false);
  });

  it('knows that Endpoints hold a thousand addresses at most', () => {
    const convergence = new Convergence({ services: 1, pods: 1500 });
    convergence.see(see('endpoints', 'service-0', 1000));
    convergence.see(see('slice', 'x', 1500));
    expect(convergence.complete).toBe(true);
  });
});
