import { readFileSync } from 'node:fs';
import { defaultPolicy, reconcileMirroring } from '@sluice/controllers';
import { type EndpointSlice, projectEndpointSlice, projectEndpoints, projectService } from '@sluice/model';
import { initialControllerState, neverStale, ServiceState } from '@sluice/service-state';
import { describe, expect, test } from 'vitest';
import { type Deviation, deviations, policyWith } from './policy.ts';

const policy = policyWith(new Set(deviations));
const labelsOf = (manager: string) => ({
  'kubernetes.io/service-name': 'web',
  'endpointslice.kubernetes.io/managed-by': `${manager}.k8s.io`,
});

function aSlice(name: string, manager = 'endpointslice-controller', given: object = {}): EndpointSlice {
  const metadata = { name, namespace: 'shop', uid: `uid-${name}`, resourceVersion: '5', generation: 1 };
  return projectEndpointSlice({ metadata: { ...metadata, labels: labelsOf(manager) }, addressType: 'IPv4', ...given });
}

test('only the given deviations are reproduced', () => {
  expect(policyWith(new Set())).toEqual(neverStale);
  const slice = aSlice('s');
  expect(policy.decisions.isNoOp(slice, slice)).toBe(false);
  expect(policyWith(new Set<Deviation>(['D3', 'H19'])).decisions.isNoOp(slice, slice)).toBe(true);
});

test('the deviations that can be reproduced are those with a key in the docs', () => {
  const page = readFileSync(new URL('../../../docs/reference/parity.md', import.meta.url), 'utf8');
  const keys = [...page.matchAll(/^\| \*\*([A-Z]\d+)\*\*/gm)].map(([, key]) => key);
  expect([...new Set(keys)].sort()).toEqual([...deviations].sort());
});

describe('a written slice that the cache lacks', () => {
  const staleAs = (controller: 'endpointslice' | 'endpointslicemirroring', ...slices: EndpointSlice[]) => {
    const view = new ServiceState({ cluster: 'c', namespace: 'shop', service: 'web' });
    const stamp = { epoch: 1, sequence: 1 };
    view.setService({ service: projectService({ metadata: { name: 'web' }, spec: {} }), stamp });
    view.setEndpoints({ endpoints: projectEndpoints({ metadata: { name: 'web' } }), stamp });
    for (const slice of slices) view.setSlice(slice.metadata.name, { slice, stamp });
    view.setController(controller, {
      ...initialControllerState,
      trackers: { ...initialControllerState.trackers, tracked: { 'uid-s': 1 } },
    });
    return policy.isStale(view, controller);
  };
  const deleting = (slice: EndpointSlice): EndpointSlice => ({
    ...slice,
    metadata: { ...slice.metadata, deletionTimestamp: '2026-01-01T00:00:00Z' },
  });

  test('makes the state stale (C20, C21)', () => {
    expect(staleAs('endpointslice')).toBe(true);
    expect(staleAs('endpointslice', aSlice('s', 'somebody'))).toBe(true);
    expect(staleAs('endpointslice', aSlice('s'))).toBe(false);
  });

  test('makes it stale while it is being deleted, except for mirroring (E10, H8)', () => {
    expect(staleAs('endpointslice', deleting(aSlice('s')))).toBe(true);
    const mirrored = aSlice('s', 'endpointslicemirroring-controller');
    expect(staleAs('endpointslicemirroring', deleting(mirrored))).toBe(false);
    expect(staleAs('endpointslicemirroring')).toBe(true);
  });
});

test('a mirrored slice with a duplicate and a missing endpoint counts as correct (H15)', () => {
  const service = projectService({ metadata: { name: 'web', namespace: 'shop' }, spec: {} });
  const metadata = { name: 'web', namespace: 'shop', uid: 'u' };
  const held = { addresses: ['10.0.0.1'], conditions: { ready: true } };
  const twice = aSlice('s', 'endpointslicemirroring-controller', { endpoints: [held, held], ports: [] });
  const endpoints = projectEndpoints({ metadata, subsets: [{ addresses: [{ ip: '10.0.0.1' }, { ip: '10.0.0.2' }] }] });
  const inputs = { service, endpoints, slices: [twice], maxEndpointsPerSubset: 1000 };
  expect(reconcileMirroring({ ...inputs, policy: policy.decisions }).plan.groups).toEqual([]);
  expect(reconcileMirroring({ ...inputs, policy: defaultPolicy }).plan.groups).toHaveLength(1);
});
