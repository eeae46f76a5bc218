import { expect, it } from 'vitest';
import type { ControllerState, InFlight } from './controller-state.ts';
import { initialControllerState } from './controller-state.ts';
import { ServiceState } from './service-state.ts';
import { joinParts, type StoredField } from './stored-parts.ts';
import { aSlice } from './testing/objects.ts';

const keyText = 'c/shop/web';
const key = { cluster: 'c', namespace: 'shop', service: 'web' };
const stamp = (sequence: number) => ({ epoch: 1, sequence });
const triggers = { service: null, pods: { 'web-0': '2026-01-01T00:00:00Z' } };
const message = {
  kind: 'mutations',
  key,
  controller: 'endpointslice',
  plan: { epoch: 1, number: 1 },
  groups: [],
  events: [],
  incomplete: [],
  serviceUid: 'uid',
  causes: { first: [], more: 0 },
  decidedAt: 5,
} as const;
const inFlight: InFlight = {
  message,
  triggersAfter: { ...triggers, service: '2026-01-01T00:00:00Z' },
  hintsAfter: null,
  watchEchoes: {},
  redeliverAt: 7,
  redeliveries: 0,
};
const waiting: ControllerState = { ...initialControllerState, triggers, inFlight };

/** What is stored after all these commits. */
class Stored {
  readonly #fields = new Map<string, unknown>();

  commit(entries: readonly StoredField[]): void {
    for (const { field, value } of entries) {
      if (value === undefined) this.#fields.delete(field);
      // As a store keeps it.
      else this.#fields.set(field, JSON.parse(JSON.stringify(value)));
    }
  }

  get fields(): readonly string[] {
    return [...this.#fields.keys()].sort();
  }

  load(): ServiceState {
    const view = new ServiceState(key);
    const entries = [...this.#fields].map(([field, value]) => ({ key: keyText, field, value }));
    for (const entry of joinParts(entries)) view.load(entry);
    return view;
  }
}

it('stores what a view holds so that it is the same when it is loaded', () => {
  const [view, stored] = [new ServiceState(key), new Stored()];
  const slice = aSlice('web-x');
  view.setSlice('web-x', { slice, stamp: stamp(1) });
  view.set('endpoints', { endpoints: { metadata: { namespace: 'shop', name: 'web' } }, stamp: null });
  view.setController('endpointslice', waiting);
  view.setController('endpoints', { ...initialControllerState, dueAt: 3 });
  stored.commit(view.takeChanges(keyText));
  const loaded = stored.load();
  expect(loaded.controller('endpointslice')).toEqual(waiting);
  expect(loaded.controller('endpoints')).toEqual({ ...initialControllerState, dueAt: 3 });
  expect(loaded.slices.get('web-x')).toEqual({ slice, stamp: stamp(1) });
  expect(loaded.endpoints).toEqual(view.endpoints);
});

it('stores a large part again only when it is another one', () => {
  const [view, stored] = [new ServiceState(key), new Stored()];
  const slice = aSlice('web-x');
  view.setSlice('web-x', { slice, stamp: null });
  view.setController('endpointslice', waiting);
  stored.commit(view.takeChanges(keyText));
  view.setSlice('web-x', { slice, stamp: stamp(2) });
  view.setController('endpointslice', { ...waiting, dueAt: 9 });
  const changes = view.takeChanges(keyText);
  expect(changes.map(({ field }) => field)).toEqual(['slice/web-x', 'controller/endpointslice']);
  stored.commit(changes);
  expect(stored.load().controller('endpointslice')).toEqual({ ...waiting, dueAt: 9 });
  expect(stored.load().slices.get('web-x')).toEqual({ slice, stamp: stamp(2) });
});

it('leaves no part behind', () => {
  const [view, stored] = [new ServiceState(key), new Stored()];
  view.setSlice('web-x', { slice: aSlice('web-x'), stamp: null });
  view.setController('endpointslice', waiting);
  stored.commit(view.takeChanges(keyText));
  view.setSlice('web-x', undefined);
  view.setController('endpointslice', { ...initialControllerState, dueAt: 1 });
  stored.commit(view.takeChanges(keyText));
  expect(stored.fields).toEqual(['controller/endpointslice']);
  expect(stored.load().controller('endpointslice')).toEqual({ ...initialControllerState, dueAt: 1 });
});

it('leaves no part behind of what was loaded', () => {
  const [view, stored] = [new ServiceState(key), new Stored()];
  view.setSlice('web-x', { slice: aSlice('web-x'), stamp: null });
  view.set('endpoints', { endpoints: { metadata: { namespace: 'shop', name: 'web' } }, stamp: null });
  view.setController('endpointslice', waiting);
  stored.commit(view.takeChanges(keyText));
  const settled = stored.load();
  settled.setController('endpointslice', { ...initialControllerState, dueAt: 1 });
  stored.commit(settled.takeChanges(keyText));
  expect(stored.load().controller('endpointslice')).toEqual({ ...initialControllerState, dueAt: 1 });
  const cleared = stored.load();
  cleared.clear();
  stored.commit(cleared.takeChanges(keyText));
  expect(stored.fields).toEqual([]);
});

it('stores a part that went and came back between two commits', () => {
  const [view, stored] = [new ServiceState(key), new Stored()];
  const slice = aSlice('web-x');
  view.setSlice('web-x', { slice, stamp: null });
  stored.commit(view.takeChanges(keyText));
  view.setSlice('web-x', undefined);
  view.setSlice('web-x', { slice, stamp: stamp(3) });
  stored.commit(view.takeChanges(keyText));
  expect(stored.load().slices.get('web-x')).toEqual({ slice, stamp: stamp(3) });
});
