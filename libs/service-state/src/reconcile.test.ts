import { expect, test } from 'vitest';
import { belongsToService, isOwn, managerOf, observerOf, slicesOf } from './reconcile.ts';
import { ServiceState } from './service-state.ts';
import { key } from './testing/messages.ts';
import { aSlice, mirroring } from './testing/objects.ts';

const stamp = { epoch: 1, sequence: 1 };

function stateWith(...slices: readonly (readonly [name: string, createdAt?: string | undefined, manager?: string])[]) {
  const state = new ServiceState(key);
  for (const [name, creationTimestamp, manager] of slices) {
    const slice = aSlice(name, manager === undefined ? {} : { manager });
    const metadata = { ...slice.metadata, ...(creationTimestamp && { creationTimestamp }) };
    state.setSlice(name, { slice: { ...slice, metadata }, stamp });
  }
  return state;
}

test('slices are in the order of their creation, then of their names; the newest have no time yet', () => {
  const state = stateWith(
    ['new-b'],
    ['late', '2026-01-03T00:00:00Z'],
    ['twin-b', '2026-01-02T00:00:00Z'],
    ['new-a'],
    ['twin-a', '2026-01-02T00:00:00Z'],
    ['early', '2026-01-01T00:00:00Z'],
  );
  const names = slicesOf(state, 'endpointslice').map(({ metadata }) => metadata.name);
  expect(names).toEqual(['early', 'twin-a', 'twin-b', 'late', 'new-a', 'new-b']);
});

test('each controller has the slices that it manages for this Service', () => {
  const state = stateWith(['own'], ['mirrored', undefined, mirroring], ['foreign', undefined, 'someone-else']);
  const elsewhere = aSlice('elsewhere');
  const labels = { ...elsewhere.metadata.labels, 'kubernetes.io/service-name': 'db' };
  const relabelled = { ...elsewhere, metadata: { ...elsewhere.metadata, labels } };
  state.setSlice('elsewhere', { slice: relabelled, stamp });
  const namesOf = (controller: 'endpointslice' | 'endpointslicemirroring') =>
    slicesOf(state, controller).map(({ metadata }) => metadata.name);
  expect([namesOf('endpointslice'), namesOf('endpointslicemirroring')]).toEqual([['own'], ['mirrored']]);
  expect([belongsToService(state, relabelled), isOwn(state, relabelled, 'endpointslice')]).toEqual([false, false]);
});

test.each([
  ['endpointslice-controller.k8s.io', 'endpointslice', 'endpointslice'],
  [mirroring, 'endpointslicemirroring', 'endpointslicemirroring'],
  ['someone-else', undefined, 'endpointslice'],
])('a slice managed by %s is of %s and observed by %s', (manager, owner, observer) => {
  const slice = aSlice('s', { manager });
  expect([managerOf(slice), observerOf(slice)]).toEqual([owner, observer]);
});

test('a slice without labels is of nobody', () => {
  const { labels: _, ...metadata } = aSlice('s').metadata;
  const slice = { ...aSlice('s'), metadata };
  expect([managerOf(slice), belongsToService(stateWith(), slice)]).toEqual([undefined, false]);
});
