import { aPod, aService, httpPort, onNode, pods } from '@sluice/model/testing';
import { describe, expect, it } from 'vitest';
import { desiredSubsets } from './desired-subsets.ts';

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
