import { controllers, type Hinting } from '@sluice/controllers';
import type { Controller } from '@sluice/model';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { ControllerState } from './controller-state.ts';
import { loadState } from './load-state.ts';
import { ServiceState, type SnapshotState } from './service-state.ts';
import type { StoredField } from './stored-form.ts';
import { given } from './testing/given.ts';
import { aSnapshot, fact, key, keyText } from './testing/messages.ts';
import { aPod, aService, aSlice, someEndpoints } from './testing/objects.ts';

/** Whatever a state holds, a store gives it back. */

const text = fc.string({ minLength: 1, maxLength: 12, unit: 'grapheme' });
const name = fc.string({ minLength: 1, maxLength: 8, unit: fc.constantFrom('a', 'b', '-', '.', '0') });
const number = fc.nat();
const maybe = <T>(value: fc.Arbitrary<T>) => fc.option(value, { nil: null });
const texts = fc.dictionary(text, text, { maxKeys: 3, noNullPrototype: true });
const numbers = fc.dictionary(text, number, { maxKeys: 3, noNullPrototype: true });
const stamp = fc.record({ epoch: number, sequence: number });
const versions = fc.record({ endpoints: text, endpointslices: text });

const snapshot: fc.Arbitrary<SnapshotState> = fc.record(
  {
    open: maybe(fc.record({ since: stamp, initial: fc.boolean(), resourceVersions: versions })),
    complete: fc.boolean(),
    partial: fc.constant(true),
    stamp,
    resourceVersions: versions,
  },
  { requiredKeys: ['open', 'complete', 'stamp', 'resourceVersions'] },
);

const triggers = fc.record({ service: maybe(text), pods: texts, since: texts }, { requiredKeys: ['service', 'pods'] });
const hints = fc.record({
  populated: fc.boolean(),
  byAddressType: fc.dictionary(fc.constantFrom('IPv4', 'IPv6'), numbers, { noNullPrototype: true }),
});
const plan = given(aSnapshot(1, [{ kind: 'service', service: aService() }, fact.pod('p')]))
  .when()
  .plan('endpointslice');
const inFlight = fc.record({
  message: fc.record({ decidedAt: number, serviceUid: text }).map((some) => ({ ...plan, ...some })),
  triggersAfter: maybe(triggers),
  hintsAfter: maybe(hints),
  watchEchoes: texts,
  redeliverAt: number,
  redeliveries: number,
});

const timers = fc.record(
  {
    dueAt: maybe(number),
    delayedUntil: maybe(number),
    cooldownUntil: number,
    topologyDueAt: number,
    batch: fc.record({
      until: number,
      maxWaitMs: number,
      appliedAt: number,
      changesPerMs: fc.double({ noNaN: true, min: 0, max: 9 }),
      writeMs: number,
    }),
  },
  { requiredKeys: ['dueAt', 'delayedUntil'] },
);
const retries = fc.record(
  { failures: number, parked: maybe(text), parkedSince: maybe(number), retryAfterMs: number, heldBack: fc.boolean() },
  { requiredKeys: ['failures', 'parked', 'parkedSince'] },
);
const repairs = fc.record(
  {
    repairAt: maybe(number),
    repairing: fc.boolean(),
    count: number,
    foreignWrites: fc.record({ count: number, slice: text, at: number, unrepaired: fc.boolean() }),
  },
  { requiredKeys: ['repairAt', 'repairing', 'count'] },
);
const requests = fc.record(
  {
    released: fc.constant(true as const),
    compaction: fc.record({ maxWrites: number, onlyWorthwhile: fc.boolean(), expiresAt: number }),
  },
  { requiredKeys: [] },
);
const counted = fc.record({
  endpoints: number,
  slices: number,
  desiredSlices: number,
  hinting: maybe(
    fc.record({ topology: fc.constantFrom<Hinting['topology'][]>('Auto', 'Disabled'), trafficDistribution: text }),
  ),
});
const controllerState: fc.Arbitrary<ControllerState> = fc.record(
  {
    timers,
    retries,
    repairs,
    requests,
    trackers: fc.record({ triggers: maybe(triggers), hints: maybe(hints), tracked: numbers, counted: maybe(counted) }),
    causes: fc.record({ first: fc.array(fc.record({ description: text, observedAt: number })), more: number }),
    inFlight: maybe(inFlight),
    unconfirmedCreates: fc.record(
      { epoch: number, number, taken: fc.array(text) },
      { requiredKeys: ['epoch', 'number'] },
    ),
  },
  { requiredKeys: ['timers', 'retries', 'repairs', 'requests', 'trackers', 'causes', 'inFlight'] },
);

const planOf = (controller: Controller, plan: NonNullable<ControllerState['inFlight']>) => ({
  ...plan,
  message: { ...plan.message, key, controller },
});

/** Something that changes a field of a state. */
const change: fc.Arbitrary<(state: ServiceState) => void> = fc.oneof(
  stamp.map((at) => (state: ServiceState) => state.setService({ service: aService(), stamp: at })),
  maybe(maybe(stamp)).map(
    (at) => (state: ServiceState) => state.setEndpoints(at && { endpoints: someEndpoints(), stamp: at }),
  ),
  maybe(numbers).map(
    (ratios) => (state: ServiceState) => state.setTopology(ratios && { zoneRatios: ratios, nodesByZone: ratios }),
  ),
  snapshot.map((next) => (state: ServiceState) => state.setSnapshot(next)),
  fc.boolean().map((orphaned) => (state: ServiceState) => state.setOrphaned(orphaned)),
  text.map((uid) => (state: ServiceState) => state.addTombstone({ uid, resourceVersion: '7' })),
  fc.tuple(name, stamp).map(
    ([pod, at]) =>
      (state: ServiceState) =>
        state.setPod(pod, { pod: aPod(pod), node: { zone: 'a' }, stamp: at }),
  ),
  name.map((pod) => (state: ServiceState) => state.removePod(pod)),
  fc.tuple(name, maybe(stamp)).map(
    ([slice, at]) =>
      (state: ServiceState) =>
        state.setSlice(slice, { slice: aSlice(slice), stamp: at }),
  ),
  name.map((slice) => (state: ServiceState) => state.removeSlice(slice)),
  fc.tuple(fc.constantFrom<Controller>(...controllers), controllerState).map(
    ([controller, next]) =>
      (state: ServiceState) =>
        state.setController(controller, { ...next, inFlight: next.inFlight && planOf(controller, next.inFlight) }),
  ),
  fc.constant((state: ServiceState) => state.clear()),
);

test('a state is loaded as it was stored, after any commits', () => {
  fc.assert(
    fc.property(fc.array(fc.array(change, { maxLength: 6 }), { maxLength: 5 }), (commits) => {
      const state = new ServiceState(key);
      const stored = new Map<string, StoredField>();
      for (const commit of commits) {
        for (const apply of commit) apply(state);
        for (const { field, value } of state.drainStoredFields(keyText)) {
          if (value === undefined) stored.delete(field);
          // As a store does.
          else stored.set(field, { key: keyText, field, value: JSON.parse(JSON.stringify(value)) });
        }
        const loaded = loadState(keyText, [...stored.values()]);
        expect(fieldsOf(loaded)).toEqual(fieldsOf(state));
      }
    }),
    { numRuns: 300 },
  );
});

function fieldsOf(state: ServiceState) {
  const { service, endpoints, topology, orphaned, tombstones } = state;
  const of = controllers.map((controller) => state.controller(controller));
  const [pods, slices] = [new Map(state.pods), new Map(state.slices)];
  return { service, endpoints, topology, snapshot: state.snapshot, orphaned, tombstones, pods, slices, of };
}
