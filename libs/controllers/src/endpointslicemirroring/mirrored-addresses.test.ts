import type { EndpointAddress, EndpointSubset } from '@sluice/model';
import { someEndpoints } from '@sluice/model/testing';
import { describe, expect, it } from 'vitest';
import { mirroredAddresses } from './mirrored-addresses.ts';

const http = { name: 'http', port: 80, protocol: 'TCP' };
const mirror = (subsets: EndpointSubset[], max = 10) => mirroredAddresses(someEndpoints({ subsets }), max);
const ips = (...texts: string[]) => texts.map((ip) => ({ ip }));

describe('mirrored addresses', () => {
  it.each<[string, Omit<EndpointAddress, 'ip'>, object]>([
    ['nothing else', {}, {}],
    ['a hostname', { hostname: 'zero' }, { hostname: 'zero' }],
    ['no hostname', { hostname: '' }, {}],
    ['a Node', { nodeName: 'node-a' }, { nodeName: 'node-a' }],
    ['an empty Node', { nodeName: '' }, { nodeName: '' }],
    ['no Node', { nodeName: null }, {}],
    ['a target', { targetRef: { name: 'web-0' } }, { targetRef: { name: 'web-0' } }],
    ['no target', { targetRef: null }, {}],
  ])('have %s (H12)', (_, given, mirrored) => {
    const { groups } = mirror([{ addresses: [{ ip: '10.0.0.1', ...given }] }]);
    const endpoints = [...groups.values()].flatMap((group) => [...group.endpoints]);
    expect(endpoints).toStrictEqual([{ addresses: ['10.0.0.1'], conditions: { ready: true }, ...mirrored }]);
  });

  it.each([
    [http, http],
    [{ port: 80 }, { name: '', protocol: '', port: 80 }],
    [
      { port: 80, appProtocol: null },
      { name: '', protocol: '', port: 80 },
    ],
    [
      { ...http, appProtocol: 'h2c' },
      { ...http, appProtocol: 'h2c' },
    ],
  ])('have the port %j as %j (H10)', (port, mirrored) => {
    const { groups } = mirror([{ addresses: ips('10.0.0.1'), ports: [port] }]);
    expect([...groups.values()].map(({ ports }) => ports)).toStrictEqual([[mirrored]]);
  });

  it('are of the last of equal endpoints (H13)', () => {
    const addresses = ['u1', 'u2'].map((uid) => ({ ip: '10.0.0.1', targetRef: { name: 'web-0', uid } }));
    const { groups } = mirror([{ addresses, ports: [http] }]);
    const [group] = groups.values();
    expect([...(group?.endpoints ?? [])].map(({ targetRef }) => targetRef?.uid)).toEqual(['u2']);
  });

  it('have the ports of subsets in which no address is valid (H10, H17)', () => {
    const { groups, portKeys, invalid, skipped } = mirror([{ addresses: ips('host'), ports: [http] }]);
    expect([groups.size, portKeys.size, invalid, skipped]).toEqual([0, 1, 1, 1]);
  });

  it('are limited per subset, ready ones first; what comes after the limit is not judged (H11, H17)', () => {
    const subset = { addresses: ips('10.0.0.1', 'host1', '10.0.0.3'), notReadyAddresses: ips('10.0.0.4', 'host2') };
    const others = { addresses: ips('10.0.0.5'), ports: [http] };
    const { groups, invalid, skipped } = mirror([subset, others], 2);
    const sizes = [...groups.values()].map(({ endpoints }) => endpoints.size);
    expect([sizes.sort(), invalid, skipped]).toEqual([[1, 2], 0, 3]);
  });
});
