import type { Pod, PodOnNode, Service } from '@sluice/model';
import { aPod, aService, httpPort, onNode, pods } from '@sluice/model/testing';
import { describe, expect, it } from 'vitest';
import { cachedDesiredSubsets, isCanonical } from './cached-subsets.ts';
import { desiredSubsets } from './desired-subsets.ts';

/** The same Pods, those of the given numbers in another state. */
function changed(before: readonly PodOnNode[], changes: Readonly<Record<number, Partial<Pod>>>): PodOnNode[] {
  return before.map((one, i) => (changes[i] === undefined ? one : { ...one, pod: { ...one.pod, ...changes[i] } }));
}

/** Decides for one state of the Pods after another. Every decision must equal one without a cache. */
function decide(service: Service, ...states: readonly (readonly PodOnNode[])[]) {
  return states.map((state) => {
    const subsets = cachedDesiredSubsets(service, state);
    expect(subsets).toEqual(desiredSubsets(service, state).subsets);
    return subsets;
  });
}

/** Whether the second decision took over addresses of the first one, which only the cache makes possible. */
function isIncremental(service: Service, before: readonly PodOnNode[], now: readonly PodOnNode[]): boolean {
  const [first, second] = decide(service, before, now).map((subsets) =>
    subsets.flatMap(({ addresses, notReadyAddresses }) => [...(addresses ?? []), ...(notReadyAddresses ?? [])]),
  );
  return first?.some((address) => second?.includes(address)) === true;
}

const webPort = (containerPort: number) => ({ name: 'web', protocol: 'TCP', containerPort });
const named = [{ ...httpPort, targetPort: 'web' }];

describe('the next decision for a Service takes over addresses', () => {
  it.each<[string, Record<number, Partial<Pod>>]>([
    ['nothing changes', {}],
    ['the first Pod becomes unready', { 0: { ready: false } }],
    ['the last Pod becomes unready', { 4: { ready: false } }],
    ['an unready Pod becomes ready', { 2: { ready: true } }],
    ['Pods change places', { 1: { ready: false }, 2: { ready: true } }],
    ['all become unready', { 0: { ready: false }, 1: { ready: false }, 3: { ready: false }, 4: { ready: false } }],
    ['a Pod changes in what its address does not show', { 1: { readyTransitionTime: '2026-01-01T00:09:00Z' } }],
  ])('if %s', (_, changes) => {
    const before = changed(pods(5), { 2: { ready: false } });
    expect(isIncremental(aService(), before, changed(before, changes))).toBe(true);
    const headless = aService({ ports: [], clusterIP: 'None' });
    expect(isIncremental(headless, before, changed(before, changes))).toBe(true);
  });

  it('with publishNotReadyAddresses, where each is ready', () => {
    const service = aService({ publishNotReadyAddresses: true });
    expect(isIncremental(service, pods(3), changed(pods(3), { 1: { ready: false } }))).toBe(true);
  });

  it('decision after decision', () => {
    const service = aService();
    const states = [pods(4)];
    for (const [i, ready] of [1, 3, 0, 1, 0, 2].entries()) {
      const last = states.at(-1) ?? [];
      states.push(changed(last, { [ready]: { ready: i >= 3 } }));
    }
    const all = decide(service, ...states).map(([subset]) => [subset?.addresses, subset?.notReadyAddresses].flat());
    const [first] = all;
    for (const addresses of all) for (const one of addresses) if (one) expect(first).toContain(one);
  });
});

describe('the next decision for a Service is a new one', () => {
  it.each<[string, (before: readonly PodOnNode[]) => readonly PodOnNode[]]>([
    ['a Pod is added', (before) => [...before, onNode(aPod(9))]],
    ['a Pod is removed', (before) => before.slice(1)],
    ['Pods come in another order', (before) => before.toReversed()],
    ['a Pod has another address', (before) => changed(before, { 1: { ips: ['10.9.9.9'] } })],
    ['a Pod is another one with the same name', (before) => changed(before, { 1: { uid: 'other' } })],
    ['a Pod has another number for a port', (before) => changed(before, { 1: { ports: [webPort(81)] } })],
    ['a Pod has none of the ports any more', (before) => changed(before, { 1: { ports: [] } })],
    ['a Pod is terminating', (before) => changed(before, { 1: { terminating: true } })],
    ['a Pod has no address any more', (before) => changed(before, { 1: { ips: [] } })],
  ])('if %s', (_, change) => {
    const before = pods(3, { ports: [webPort(80)] });
    expect(isIncremental(aService({ ports: named }), before, change(before))).toBe(false);
  });

  it('if a Pod was not in Endpoints before', () => {
    expect(isIncremental(aService(), changed(pods(3), { 1: { terminating: true } }), pods(3))).toBe(false);
  });

  it.each<[string, Record<number, Partial<Pod>>]>([
    ['a Pod has none of the ports', { 1: { ports: [] } }],
    ['two Pods share an address', { 1: { ips: ['10.0.0.0'], uid: 'pod-uid-0' } }],
    ['there are several subsets', { 1: { ports: [webPort(81)] } }],
    ['there is no subset', { 0: { ports: [] }, 1: { ports: [] }, 2: { ports: [] } }],
  ])('if %s, whichever Pod changes', (_, changes) => {
    const before = changed(pods(3, { ports: [webPort(80)] }), changes);
    for (const i of [0, 1, 2]) {
      const now = changed(before, { [i]: { ready: false } });
      expect(isIncremental(aService({ ports: named }), before, now)).toBe(false);
    }
  });

  it.each([8080, 8081, 8082, 8083])('if a Pod has only port %i of two', (targetPort) => {
    const service = aService({ ports: [{ ...httpPort, targetPort }, ...named] });
    const before = changed(pods(3, { ports: [webPort(80)] }), { 1: { ports: [] } });
    expect(isIncremental(service, before, changed(before, { 0: { ready: false } }))).toBe(false);
  });

  it('if the Service is another object', () => {
    const [before] = decide(aService(), pods(2));
    const [now] = decide(aService(), pods(2));
    expect(now?.[0]?.addresses?.[0]).not.toBe(before?.[0]?.addresses?.[0]);
  });
});

describe('subsets are known to be canonical', () => {
  it('if a decision made them, unless there are several, of which some could be merged', () => {
    const [one = []] = decide(aService(), pods(2));
    const [none = []] = decide(aService(), []);
    const [several = []] = decide(aService({ ports: named }), [
      onNode(aPod(1, { ports: [webPort(80)] })),
      onNode(aPod(2, { ports: [webPort(81)] })),
    ]);
    expect([one, none, several].map(isCanonical)).toEqual([true, true, false]);
    expect(isCanonical([...one])).toBe(false);
  });

  it('if a decision changed them', () => {
    const [, second = []] = decide(aService(), pods(2), changed(pods(2), { 1: { ready: false } }));
    expect(isCanonical(second)).toBe(true);
  });
});
