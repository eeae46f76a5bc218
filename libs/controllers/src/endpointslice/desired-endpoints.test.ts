import type { Pod, Service } from '@sluice/model';
import { aPod, aService, httpPort } from '@sluice/model/testing';
import { describe, expect, it } from 'vitest';
import { endpointPorts, podToEndpoint } from './desired-endpoints.ts';

const endpointOf = (pod: Partial<Pod>, service: Partial<Service> = {}, zone: string | null = 'a') =>
  podToEndpoint(aPod(1, pod), zone === null ? null : { zone }, aService(service), 'IPv4');

describe('the endpoint of a Pod (E17)', () => {
  it('names the Pod and its Node', () => {
    expect(endpointOf({ hostname: 'zero', subdomain: 'web' })).toEqual({
      addresses: ['10.0.0.1'],
      conditions: { ready: true, serving: true, terminating: false },
      hostname: 'zero',
      targetRef: { kind: 'Pod', namespace: 'shop', name: 'web-1', uid: 'pod-uid-1' },
      nodeName: 'node-a',
      zone: 'a',
    });
  });

  it.each([
    ['hostname', endpointOf({ hostname: 'zero' })],
    ['nodeName', endpointOf({ nodeName: '' })],
    ['zone', endpointOf({}, {}, '')],
    ['zone', endpointOf({}, {}, null)],
  ])('has no %s if the Pod has none', (field, endpoint) => {
    expect(endpoint).not.toHaveProperty(field);
  });

  it('has the addresses of one type, in the order of the Pod', () => {
    const pod = aPod(1, { ips: ['10.0.0.9', 'fd00::2', '010.0.0.1', 'FD00::1'] });
    const addresses = (type: 'IPv4' | 'IPv6') => podToEndpoint(pod, null, aService(), type).addresses;
    expect(addresses('IPv4')).toEqual(['10.0.0.9', '10.0.0.1']);
    expect(addresses('IPv6')).toEqual(['fd00::2', 'fd00::1']);
  });

  it.each([
    [true, false, false, { ready: true, serving: true, terminating: false }],
    [false, false, false, { ready: false, serving: false, terminating: false }],
    [true, true, false, { ready: false, serving: true, terminating: true }],
    [false, true, false, { ready: false, serving: false, terminating: true }],
    [true, false, true, { ready: true, serving: true, terminating: false }],
    [false, false, true, { ready: true, serving: false, terminating: false }],
    [true, true, true, { ready: true, serving: true, terminating: true }],
    [false, true, true, { ready: true, serving: false, terminating: true }],
  ])(
    'has the conditions of a Pod that is ready: %s, terminating: %s, with publishNotReadyAddresses: %s (E18)',
    (ready, terminating, publishNotReadyAddresses, conditions) => {
      expect(endpointOf({ ready, terminating }, { publishNotReadyAddresses }).conditions).toEqual(conditions);
    },
  );
});

it('ports that the Pod has are in the order of the Service (E16)', () => {
  const named = (name: string) => ({ ...httpPort, name, targetPort: name });
  const ports = [named('b'), { ...named('a'), appProtocol: 'h2c' }, named('missing'), httpPort];
  const pod = aPod(1, { ports: ['a', 'b'].map((name, i) => ({ name, protocol: 'TCP', containerPort: i + 1 })) });
  expect(endpointPorts(aService({ ports }), pod)).toStrictEqual([
    { name: 'b', protocol: 'TCP', port: 2 },
    { name: 'a', protocol: 'TCP', port: 1, appProtocol: 'h2c' },
    { name: 'http', protocol: 'TCP', port: 8080 },
  ]);
});
