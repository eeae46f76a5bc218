import type { EndpointAddress, EndpointSubset, EndpointsPort, ObjectReference } from '@sluice/model';
import { describe, expect, it } from 'vitest';
import { equalSubsets } from './equal-subsets.ts';

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
