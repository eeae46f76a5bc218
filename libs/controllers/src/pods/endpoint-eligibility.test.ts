import type { Pod } from '@sluice/model';
import { aPod, aService } from '@sluice/model/testing';
import { describe, expect, it } from 'vitest';
import { endpointHostname, shouldPodBeInEndpoints } from './endpoint-eligibility.ts';

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
