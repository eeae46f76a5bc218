import type { NamedPort, Pod, StringMap } from '@sluice/model';
import { aPod, aService, httpPort, onNode } from '@sluice/model/testing';
import { describe, expect, it } from 'vitest';
import {
  changedIndexes,
  endpointHostname,
  findPort,
  samePorts,
  selectorMatches,
  shouldPodBeInEndpoints,
} from './pods.ts';

describe('a Pod in endpoints (C3)', () => {
  it.each<[string, Partial<Pod>, boolean, boolean]>([
    ['that runs', {}, true, true],
    ['that is terminating', { terminating: true }, false, true],
    ['that has ended', { terminal: true }, false, false],
    ['without an address', { ip: '', ips: [] }, false, false],
    ['with only its first address', { ips: [] }, true, true],
    ['with only a list of addresses', { ip: '' }, true, true],
  ])('%s', (_, given, eligible, eligibleIfTerminating) => {
    expect(shouldPodBeInEndpoints(aPod(1, given), false)).toBe(eligible);
    expect(shouldPodBeInEndpoints(aPod(1, given), true)).toBe(eligibleIfTerminating);
  });
});

describe('the hostname of a Pod is published (C4)', () => {
  const named = { hostname: 'zero', subdomain: 'web' };

  it('if its subdomain is the Service', () => {
    expect(endpointHostname(aPod(1, named), aService())).toBe('zero');
  });

  it.each<[string, Partial<Pod>]>([
    ['it has none', { hostname: '' }],
    ['its subdomain is another Service', { subdomain: 'db' }],
    ['it has no subdomain', { subdomain: '' }],
    ['it is in another namespace', { namespace: 'other' }],
  ])('but not if %s', (_, given) => {
    expect(endpointHostname(aPod(1, { ...named, ...given }), aService())).toBe('');
  });
});

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

it.each<[StringMap | null, StringMap, boolean]>([
  [null, {}, false],
  [null, { app: 'web' }, false],
  [{}, {}, true],
  [{}, { app: 'web' }, true],
  [{ app: 'web' }, { app: 'web', tier: 'front' }, true],
  [{ app: 'web' }, { app: 'db' }, false],
  [{ app: 'web' }, {}, false],
  [{ app: 'web', tier: 'front' }, { app: 'web' }, false],
])('the selector %j matches the labels %j: %s (C9)', (selector, labels, matches) => {
  expect(selectorMatches(selector, labels)).toBe(matches);
});

const [a, b, c] = [onNode(aPod(1)), onNode(aPod(2)), onNode(aPod(3))];
const newer = (pod: typeof a) => ({ ...pod });

it('Pods that are other objects than before have changed', () => {
  expect(changedIndexes([], [])).toEqual([]);
  expect(changedIndexes([a, b, c], [a, b, c])).toEqual([]);
  expect(changedIndexes([a, b, c], [newer(a), b, newer(c)])).toEqual([0, 2]);
});

it.each([
  ['was added', [a, b], [a, b, c]],
  ['was removed', [a, b, c], [a, b]],
  ['was replaced', [a, b], [a, c]],
  ['moved', [a, b], [b, a]],
])('they cannot be compared if a Pod %s', (_, before, now) => {
  expect(changedIndexes(before, now)).toBeUndefined();
});
