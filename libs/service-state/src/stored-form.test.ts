import { expect, it } from 'vitest';
import { type ControllerState, type InFlight, initialControllerState } from './controller-state.ts';
import { loadState } from './load-state.ts';
import { ServiceState } from './service-state.ts';
import { joinParts, type StoredField } from './stored-form.ts';
import { aController, aSlice } from './testing/objects.ts';

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
const waiting: ControllerState = {
  ...initialControllerState,
  trackers: { ...initialControllerState.trackers, triggers },
  inFlight,
};

/** The store's content after all commits. */
class Stored {
  readonly #fields = new Map<string, unknown>();

  commit(entries: readonly StoredField[]): void {
    for (const { field, value } of entries) {
      if (value === undefined) this.#fields.delete(field);
      // As a store does.
      else this.#fields.set(field, JSON.parse(JSON.stringify(value)));
    }
  }

  get fields(): readonly string[] {
    return [...this.#fields.keys()].sort();
  }

  load(): ServiceState {
    const state = new ServiceState(key);
    const entries = [...this.#fields].map(([field, value]) => ({ key: keyText, field, value }));
    for (const entry of joinParts(entries)) state.load(entry);
    return state;
  }
}

it('loads a topology without enough information about Nodes', () => {
  const state = new ServiceState(key);
  state.setTopology({ zoneRatios: null, nodesByZone: { a: 1 } });
  expect(loadState(keyText, state.drainStoredFields(keyText)).topology).toEqual(state.topology);
});

it('loads a state as it was stored', () => {
  const [state, stored] = [new ServiceState(key), new Stored()];
  const slice = aSlice('web-x');
  state.setSlice('web-x', { slice, stamp: stamp(1) });
  state.setEndpoints({ endpoints: { metadata: { namespace: 'shop', name: 'web' } }, stamp: null });
  state.setController('endpointslice', waiting);
  state.setController('endpoints', aController({ timers: { dueAt: 3 } }));
  stored.commit(state.drainStoredFields(keyText));
  const loaded = stored.load();
  expect(loaded.controller('endpointslice')).toEqual(waiting);
  expect(loaded.controller('endpoints')).toEqual(aController({ timers: { dueAt: 3 } }));
  expect(loaded.slices.get('web-x')).toEqual({ slice, stamp: stamp(1) });
  expect(loaded.endpoints).toEqual(state.endpoints);
});

it('stores a large part again only when it is another object', () => {
  const [state, stored] = [new ServiceState(key), new Stored()];
  const slice = aSlice('web-x');
  state.setSlice('web-x', { slice, stamp: null });
  state.setController('endpointslice', waiting);
  stored.commit(state.drainStoredFields(keyText));
  state.setSlice('web-x', { slice, stamp: stamp(2) });
  state.setController('endpointslice', aController({ timers: { dueAt: 9 } }, waiting));
  const changes = state.drainStoredFields(keyText);
  expect(changes.map(({ field }) => field)).toEqual(['slice/web-x', 'controller/endpointslice']);
  stored.commit(changes);
  expect(stored.load().controller('endpointslice')).toEqual(aController({ timers: { dueAt: 9 } }, waiting));
  expect(stored.load().slices.get('web-x')).toEqual({ slice, stamp: stamp(2) });
});

it('removes all parts of a removed field', () => {
  const [state, stored] = [new ServiceState(key), new Stored()];
  state.setSlice('web-x', { slice: aSlice('web-x'), stamp: null });
  state.setController('endpointslice', waiting);
  stored.commit(state.drainStoredFields(keyText));
  state.removeSlice('web-x');
  state.setController('endpointslice', aController({ timers: { dueAt: 1 } }));
  stored.commit(state.drainStoredFields(keyText));
  expect(stored.fields).toEqual(['controller/endpointslice']);
  expect(stored.load().controller('endpointslice')).toEqual(aController({ timers: { dueAt: 1 } }));
});

it('removes all parts of a loaded field', () => {
  const [state, stored] = [new ServiceState(key), new Stored()];
  state.setSlice('web-x', { slice: aSlice('web-x'), stamp: null });
  state.setEndpoints({ endpoints: { metadata: { namespace: 'shop', name: 'web' } }, stamp: null });
  state.setController('endpointslice', waiting);
  stored.commit(state.drainStoredFields(keyText));
  const settled = stored.load();
  settled.setController('endpointslice', aController({ timers: { dueAt: 1 } }));
  stored.commit(settled.drainStoredFields(keyText));
  expect(stored.load().controller('endpointslice')).toEqual(aController({ timers: { dueAt: 1 } }));
  const cleared = stored.load();
  cleared.clear();
  stored.commit(cleared.drainStoredFields(keyText));
  expect(stored.fields).toEqual([]);
});

it('stores a part that was removed and added between two commits', () => {
  const [state, stored] = [new ServiceState(key), new Stored()];
  const slice = aSlice('web-x');
  state.setSlice('web-x', { slice, stamp: null });
  stored.commit(state.drainStoredFields(keyText));
  state.removeSlice('web-x');
  state.setSlice('web-x', { slice, stamp: stamp(3) });
  stored.commit(state.drainStoredFields(keyText));
  expect(stored.load().slices.get('web-x')).toEqual({ slice, stamp: stamp(3) });
});
