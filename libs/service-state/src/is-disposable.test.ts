import { expect, test } from 'vitest';
import { isDisposable } from './is-disposable.ts';
import { ServiceState } from './service-state.ts';
import { given, startTime } from './testing/given.ts';
import { aSnapshot, fact, key } from './testing/messages.ts';
import { aPod, aService, aSlice, someEndpoints } from './testing/objects.ts';

const stamp = { epoch: 1, sequence: 1 };

/** A Service that was deleted, and whose objects are gone. */
function emptied(): ServiceState {
  const state = new ServiceState(key);
  state.setService({ service: null, stamp });
  state.setSnapshot({ ...state.snapshot, complete: true });
  return state;
}

test('a state with nothing left is disposable, also before its first snapshot', () => {
  expect(isDisposable(emptied())).toBe(true);
  expect(isDisposable(new ServiceState(key))).toBe(true);
});

test.each<[string, (state: ServiceState) => void]>([
  ['its Service exists', (state) => state.setService({ service: aService(), stamp })],
  ['its Endpoints exist', (state) => state.setEndpoints({ endpoints: someEndpoints(), stamp })],
  ['a Pod exists', (state) => state.setPod('p', { pod: aPod('p'), node: null, stamp })],
  ['a slice exists', (state) => state.setSlice('s', { slice: aSlice('s'), stamp })],
  [
    'a snapshot is open',
    (state) => {
      const { resourceVersions } = state.snapshot;
      state.setSnapshot({ ...state.snapshot, open: { since: stamp, initial: false, resourceVersions } });
    },
  ],
  [
    'its Endpoints are still to be published and deleted',
    (state) => {
      state.setOrphaned(true);
      state.setSnapshot({ ...state.snapshot, complete: false });
    },
  ],
  [
    'a decision is due',
    (state) => state.setController('endpoints', { ...state.controller('endpoints'), dueAt: startTime }),
  ],
  [
    'one of its controllers is parked',
    (state) => state.setController('endpoints', { ...state.controller('endpoints'), parked: 'forbidden' }),
  ],
  [
    'a plan is in flight',
    (state) => {
      const { inFlight } = given(aSnapshot(1, [{ kind: 'service', service: aService() }, fact.pod('p')]))
        .when()
        .state.controller('endpointslice');
      expect(inFlight).not.toBeNull();
      state.setController('endpointslice', { ...state.controller('endpointslice'), inFlight });
    },
  ],
])('a state is kept while %s', (_, keep) => {
  const state = emptied();
  keep(state);
  expect(isDisposable(state)).toBe(false);
});

test('Endpoints that were deleted with their Service need nothing more', () => {
  const state = emptied();
  state.setOrphaned(true);
  expect(isDisposable(state)).toBe(true);
});

test('a decision that is due without a snapshot is never made', () => {
  const state = emptied();
  state.setSnapshot({ ...state.snapshot, complete: false });
  state.setController('endpoints', { ...state.controller('endpoints'), dueAt: startTime });
  expect(isDisposable(state)).toBe(true);
});
