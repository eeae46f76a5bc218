import type { NamedPort } from '@sluice/model';
import { aPod, aService, httpPort } from '@sluice/model/testing';
import { describe, expect, it } from 'vitest';
import { findPort, samePorts } from './find-port.ts';

const web = (containerPort: number, given: Partial<NamedPort> = {}): NamedPort => ({
  ...{ name: 'web', protocol: 'TCP', containerPort },
  ...given,
});
const podWith = (...ports: NamedPort[]) => aPod(1, { ports });
const named = { ...httpPort, targetPort: 'web' };

describe('the target port of a Service (C5)', () => {
  it('is a number as it is, whatever the Pod has', () => {
    expect(findPort(podWith(web(80)), { ...httpPort, targetPort: 9090 })).toBe(9090);
  });

  it('is the first port of the Pod with its name and protocol', () => {
    const others = [web(1, { name: 'other' }), web(2, { protocol: 'UDP' })];
    expect(findPort(podWith(...others, web(80), web(81)), named)).toBe(80);
    expect(findPort(podWith(...others), named)).toBeNull();
  });
});

describe('two Pods have the same ports', () => {
  const service = aService({ ports: [httpPort, named] });

  it('if every port of the Service has the same number, or is missing, on both', () => {
    expect(samePorts(service, podWith(web(80)), podWith(web(80), web(81)))).toBe(true);
    expect(samePorts(service, podWith(), podWith(web(81, { name: 'other' })))).toBe(true);
    expect(samePorts(service, podWith(web(80)), podWith(web(81)))).toBe(false);
    expect(samePorts(service, podWith(web(80)), podWith())).toBe(false);
  });
});
