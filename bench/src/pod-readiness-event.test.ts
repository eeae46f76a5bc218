import { describe, expect, it } from 'vitest';
import { Convergence } from './convergence.ts';
import { type PodReadinessEvent, parseEvent } from './pod-readiness-event.ts';

const ref = (name: string) => ({ targetRef: { kind: 'Pod', name } });
const slice = (endpoints: unknown) => ({
  kind: 'EndpointSlice',
  metadata: {
    namespace: 'bench-0',
    name: 'service-0-x',
    resourceVersion: '7',
    labels: { 'kubernetes.io/service-name': 'service-0' },
  },
  endpoints,
});
const line = (type: string, object: object) => JSON.stringify({ type, object });

describe('parseEvent', () => {
  it('reads the Pods of an EndpointSlice; a missing condition means ready', () => {
    const endpoints = [{ ...ref('a'), conditions: { ready: false } }, { ...ref('b'), conditions: {} }, ref('c'), {}];
    expect(parseEvent(line('MODIFIED', slice(endpoints)))).toEqual({
      from: 'slice',
      namespace: 'bench-0',
      name: 'service-0-x',
      service: 'service-0',
      deleted: false,
      resourceVersion: '7',
      pods: [
        { name: 'a', ready: false },
        { name: 'b', ready: true },
        { name: 'c', ready: true },
      ],
    });
    expect(parseEvent(line('ADDED', slice(null)))?.pods).toEqual([]);
  });

  it('reads the Pods of Endpoints', () => {
    const subsets = [{ addresses: [ref('a')], notReadyAddresses: [ref('b')] }, { addresses: [ref('c')] }];
    const object = {
      kind: 'Endpoints',
      metadata: { namespace: 'bench-1', name: 'service-1', resourceVersion: '7' },
      subsets,
    };
    expect(parseEvent(line('DELETED', object))).toEqual({
      from: 'endpoints',
      namespace: 'bench-1',
      name: 'service-1',
      service: 'service-1',
      deleted: true,
      resourceVersion: '7',
      pods: [
        { name: 'a', ready: true },
        { name: 'b', ready: false },
        { name: 'c', ready: true },
      ],
    });
  });

  it('returns undefined for a bookmark and throws on ERROR', () => {
    expect(parseEvent(line('BOOKMARK', slice([])))).toBeUndefined();
    expect(() => parseEvent(line('ERROR', { kind: 'Status', code: 410 }))).toThrow(/410/);
  });
});

describe('Convergence', () => {
  const see = (from: PodReadinessEvent['from'], name: string, ready: number, deleted = false): PodReadinessEvent => ({
    from,
    namespace: 'bench-0',
    name,
    service: 'service-0',
    deleted,
    resourceVersion: '7',
    pods: Array.from({ length: ready }, (_, index) => ({ name: `p${index}`, ready: true })),
  });

  it('requires all Pods in the slices and in the Endpoints', () => {
    const convergence = new Convergence({ services: 1, pods: 3 });
    convergence.observe(see('slice', 'x', 2));
    convergence.observe(see('endpoints', 'service-0', 3));
    expect(convergence.complete).toBe(false);
    expect(convergence.missing).toEqual(['service-0']);
    convergence.observe(see('slice', 'y', 1));
    expect(convergence.complete).toBe(true);
  });

  it('ignores deleted slices and Pods that are not ready', () => {
    const convergence = new Convergence({ services: 1, pods: 2 });
    convergence.observe(see('slice', 'x', 1));
    convergence.observe(see('slice', 'x', 1, true));
    convergence.observe({ ...see('slice', 'y', 0), pods: [{ name: 'a', ready: false }] });
    convergence.observe(see('slice', 'z', 1));
    convergence.observe(see('endpoints', 'service-0', 2));
    expect(convergence.complete).toBe(false);
  });

  it('expects at most a thousand addresses in Endpoints', () => {
    const convergence = new Convergence({ services: 1, pods: 1500 });
    convergence.observe(see('endpoints', 'service-0', 1000));
    convergence.observe(see('slice', 'x', 1500));
    expect(convergence.complete).toBe(true);
  });
});
