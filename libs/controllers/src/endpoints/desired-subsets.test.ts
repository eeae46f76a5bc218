import type {
  EndpointAddress,
  EndpointSubset,
  EndpointsPort,
  ObjectReference,
  Pod,
  PodOnNode,
  Service,
} from '@sluice/model';
import { aPod, aService, httpPort, onNode, pods } from '@sluice/model/testing';
import { describe, expect, it } from 'vitest';
import { cachedDesiredSubsets, desiredSubsets, equalSubsets, isCanonical } from './desired-subsets.ts';

const webPort = (containerPort: number) => ({ name: 'web', protocol: 'TCP', containerPort });

describe('the subsets of a Service', () => {
  it('have ports with only the fields that the Service has (D13)', () => {
    const ports = [{ ...httpPort, name: '', protocol: '' }];
    const [subset] = desiredSubsets(aService({ ports }), pods(2)).subsets;
    expect(subset?.ports).toStrictEqual([{ port: 8080 }]);
    const full = { name: 'http', port: 8080, protocol: 'TCP', appProtocol: '' };
    const [other] = desiredSubsets(aService({ ports: [{ ...httpPort, appProtocol: '' }] }), pods(2)).subsets;
    expect(other?.ports).toStrictEqual([full]);
  });

  it('merge Pods with the same number for a port with application protocol, not two such ports', () => {
    const named = { ...httpPort, targetPort: 'web', appProtocol: 'h2c' };
    const [a, b] = [onNode(aPod(1, { ports: [webPort(80)] })), onNode(aPod(2, { ports: [webPort(80)] }))];
    expect(desiredSubsets(aService({ ports: [named] }), [a, b]).subsets).toHaveLength(1);
    const twice = desiredSubsets(aService({ ports: [named, { ...named }] }), [a, b]).subsets;
    expect(twice.map(({ ports }) => ports?.length)).toEqual([2]);
  });

  it('list no Pod that has none of the ports, but know its address', () => {
    const service = aService({ ports: [{ ...httpPort, targetPort: 'web' }] });
    const of = [onNode(aPod(1, { ports: [webPort(80)] })), onNode(aPod(2)), onNode(aPod(3, { terminal: true }))];
    const { subsets, byPod } = desiredSubsets(service, of);
    expect(subsets).toMatchObject([{ addresses: [{ ip: '10.0.0.1' }], ports: [{ port: 80 }] }]);
    expect([...byPod.keys()]).toEqual(['web-1', 'web-2']);
  });

  it('list Pods without ports only if the Service is headless and has none (D12)', () => {
    const of = pods(2);
    expect(desiredSubsets(aService({ ports: [], clusterIP: 'None' }), of).subsets).toHaveLength(1);
    expect(desiredSubsets(aService({ ports: [] }), of).subsets).toEqual([]);
    const withPorts = desiredSubsets(aService({ clusterIP: 'None' }), of).subsets;
    expect(withPorts.map(({ ports }) => ports?.length)).toEqual([1]);
  });
});

describe('cached subsets', () => {
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
});

const target: ObjectReference = {
  ...{ kind: 'Pod', namespace: 'shop', name: 'web-0', uid: 'u', resourceVersion: '1' },
  ...{ apiVersion: 'v1', fieldPath: 'spec' },
};
const address: EndpointAddress = { ip: '10.0.0.1', hostname: 'h', nodeName: 'n', targetRef: target };
const port: EndpointsPort = { name: 'http', port: 80, protocol: 'TCP', appProtocol: 'h2c' };
const subset: EndpointSubset = { addresses: [address], notReadyAddresses: [{ ip: '10.0.0.2' }], ports: [port] };

const withAddress = (given: object): EndpointSubset => ({ ...subset, addresses: [{ ...address, ...given }] });
const withTarget = (given: object) => withAddress({ targetRef: { ...target, ...given } });
const withPort = (given: object): EndpointSubset => ({ ...subset, ports: [{ ...port, ...given }] });

describe('equal subsets (D19)', () => {
  it.each<[string, EndpointSubset]>([
    ['another IP address', withAddress({ ip: '10.0.0.9' })],
    ['another hostname', withAddress({ hostname: 'x' })],
    ['no hostname', withAddress({ hostname: undefined })],
    ['another Node', withAddress({ nodeName: 'x' })],
    ['no Node', withAddress({ nodeName: undefined })],
    ['an empty name of the Node', withAddress({ nodeName: '' })],
    ['no target', withAddress({ targetRef: undefined })],
    ['a target of another kind', withTarget({ kind: 'Node' })],
    ['a target in another namespace', withTarget({ namespace: 'x' })],
    ['a target with another name', withTarget({ name: 'x' })],
    ['a target with another uid', withTarget({ uid: 'x' })],
    ['a target with another API version', withTarget({ apiVersion: 'v2' })],
    ['a target with another field path', withTarget({ fieldPath: 'x' })],
    ['another port', withPort({ port: 81 })],
    ['another name of the port', withPort({ name: 'x' })],
    ['another protocol', withPort({ protocol: 'UDP' })],
    ['another application protocol', withPort({ appProtocol: 'x' })],
    ['no application protocol', withPort({ appProtocol: undefined })],
    ['an empty application protocol', withPort({ appProtocol: '' })],
    ['no ports', { ...subset, ports: [] }],
    ['one more port', { ...subset, ports: [port, { port: 81 }] }],
    ['no ready addresses', { ...subset, addresses: [] }],
    ['one more ready address', { ...subset, addresses: [address, { ip: '10.0.0.3' }] }],
    [
      'the same addresses the other way round',
      { ...subset, addresses: [{ ip: '10.0.0.2' }], notReadyAddresses: [address] },
    ],
    ['another address that is not ready', { ...subset, notReadyAddresses: [{ ip: '10.0.0.3' }] }],
  ])('differ by %s', (_, other) => {
    expect([equalSubsets([subset], [other]), equalSubsets([other], [subset])]).toEqual([false, false]);
  });

  it('differ by an empty field where the other has one', () => {
    const plain: EndpointSubset = { addresses: [{ ip: '10.0.0.1' }], ports: [{ port: 80 }] };
    expect(equalSubsets([plain], [{ ...plain, addresses: [{ ip: '10.0.0.1', nodeName: '' }] }])).toBe(false);
    expect(equalSubsets([plain], [{ ...plain, ports: [{ port: 80, appProtocol: '' }] }])).toBe(false);
  });

  it.each<[string, EndpointSubset, EndpointSubset]>([
    ['copies', structuredClone(subset), subset],
    ['targets in different versions', withTarget({ resourceVersion: '2' }), subset],
    [
      'absent and empty texts',
      { addresses: [{ ip: '10.0.0.1', targetRef: {} }], ports: [{ port: 80 }] },
      {
        addresses: [
          {
            ...{ ip: '10.0.0.1', hostname: '' },
            targetRef: { kind: '', namespace: '', name: '', uid: '', apiVersion: '', fieldPath: '' },
          },
        ],
        ports: [{ port: 80, name: '', protocol: '' }],
      },
    ],
    ['absent and empty lists', {}, { addresses: [], notReadyAddresses: [], ports: [] }],
  ])('are %s', (_, a, b) => {
    expect([equalSubsets([a], [b]), equalSubsets([b], [a])]).toEqual([true, true]);
  });

  it('have the same order and number', () => {
    const other = withPort({ port: 81 });
    expect(equalSubsets([subset, other], [subset, other])).toBe(true);
    expect(equalSubsets([subset, other], [other, subset])).toBe(false);
    expect(equalSubsets([subset], [subset, other])).toBe(false);
    expect(equalSubsets([subset, other], [subset])).toBe(false);
  });
});
