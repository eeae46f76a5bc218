import { type EndpointPort, fnv1a128 } from '@sluice/model';
import { describe, expect, it } from 'vitest';
import { dumpEndpointPort, dumpEndpointPorts, portMapKey } from './port-map-key.ts';

const http: EndpointPort = { name: 'http', protocol: 'TCP', port: 80, appProtocol: 'h2c' };
const dns: EndpointPort = { name: 'dns', protocol: 'UDP', port: 53 };
const ports = [http, dns, { ...http, port: 81 }, { ...http, port: 82 }];

describe('the key of ports (C25)', () => {
  it('is the same in any order', () => {
    expect(portMapKey(ports.toReversed()).key).toBe(portMapKey(ports).key);
    expect(portMapKey([...ports]).key).toBe(portMapKey(ports).key);
  });

  it('is that of an empty list for none', () => {
    expect(portMapKey(null)).toEqual(portMapKey([]));
    expect(portMapKey(undefined).ports).toEqual([]);
    expect(portMapKey(null).key).not.toBe(portMapKey([{}]).key);
  });

  it.each<[string, EndpointPort]>([
    ['name', { ...http, name: 'web' }],
    ['empty name', { ...http, name: '' }],
    ['missing name', { ...http, name: null }],
    ['protocol', { ...http, protocol: 'UDP' }],
    ['missing protocol', { ...http, protocol: null }],
    ['number', { ...http, port: 81 }],
    ['missing number', { ...http, port: null }],
    ['application protocol', { ...http, appProtocol: 'x' }],
    ['missing application protocol', { ...http, appProtocol: null }],
  ])('depends on the %s', (_, other) => {
    expect(portMapKey([other]).key).not.toBe(portMapKey([http]).key);
  });

  it('takes null fields for missing ones', () => {
    const empty = { name: null, protocol: null, port: null, appProtocol: null };
    expect(portMapKey([empty]).key).toBe(portMapKey([{}]).key);
  });
});

it('ports are written in the order of their hashes (C25, L2)', () => {
  const hashes = portMapKey(ports).ports.map((port) => fnv1a128(dumpEndpointPort(port)));
  expect(hashes).toEqual([...hashes].sort());
  expect(portMapKey(ports.toReversed()).ports).toEqual(portMapKey(ports).ports);
  expect(portMapKey([dns]).ports).toEqual([dns]);
});

it("ports are hashed as Go's dump (L2)", () => {
  const fields = '{Name:(*string)http Protocol:(*v1.Protocol)TCP Port:(*int32)80 AppProtocol:(*string)h2c}';
  const none = '{Name:(*string)<nil> Protocol:(*v1.Protocol)<nil> Port:(*int32)<nil> AppProtocol:(*string)<nil>}';
  expect(dumpEndpointPort(http)).toBe(`(v1.EndpointPort)${fields}`);
  expect(dumpEndpointPorts([http, {}])).toBe(`([]v1.EndpointPort)[${fields} ${none}]`);
  expect(portMapKey([http]).key).toBe(fnv1a128(dumpEndpointPorts([http])));
});
