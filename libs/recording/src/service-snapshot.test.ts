import { encodeMessage, type Fact, type Message, noCauses, type PlannedMutations } from '@sluice/messages';
import { type Random, randomInteger, seededRandom } from '@sluice/platform';
import { ServiceStates } from '@sluice/service-state';
import { aChange, anOutcome, aService, aSnapshot, fact, key, keyText } from '@sluice/service-state/testing';
import { expect, test } from 'vitest';
import { messageOf } from './records.ts';
import { snapshotOf } from './service-snapshot.ts';

const first = aSnapshot(1, [{ kind: 'service', service: aService() }, fact.pod('a'), fact.slice('web-a')], {
  endpoints: '6',
  endpointslices: '6',
});

function randomFact(random: Random, version: number): Fact {
  const exists = random.next() < 0.7;
  const name = ['a', 'b', 'c'][randomInteger(random, 0, 2)] ?? '';
  switch (randomInteger(random, 0, 3)) {
    case 0:
      return { kind: 'service', service: aService({ labels: { version: `${version}` } }) };
    case 1:
      return exists ? fact.slice(`web-${name}`, { version }) : fact.sliceGone(`web-${name}`);
    case 2:
      return exists ? fact.endpoints({ version }) : fact.endpointsGone();
    default:
      return exists ? fact.pod(name, random.next() < 0.5) : fact.podGone(name);
  }
}

/** Without stamps, which say when the state learned of an object. */
function objectsOf(states: ServiceStates) {
  const state = states.get(keyText);
  return {
    service: state?.service?.service,
    pods: new Map([...(state?.pods ?? [])].map(([name, { pod, node }]) => [name, { pod, node }])),
    slices: new Map([...(state?.slices ?? [])].map(([name, { slice }]) => [name, slice])),
    endpoints: state?.endpoints?.endpoints,
    topology: state?.topology,
  };
}

function statesAfter(messages: readonly Message[]): ServiceStates {
  const states = new ServiceStates();
  for (const [at, message] of messages.entries()) states.apply(keyText, message, at);
  return states;
}

function snapshot(states: ServiceStates): Message | undefined {
  const state = states.get(keyText);
  const taken = state && snapshotOf(state, { similarPods: undefined, now: 5_000 });
  return taken && messageOf({ payload: encodeMessage(taken) });
}

test.each(Array.from({ length: 40 }, (_, i) => i + 1))(
  'a read that begins at a snapshot finds what one from the beginning finds (seed %i)',
  (seed) => {
    const random = seededRandom(seed);
    const messages = [first];
    for (let sequence = 2; sequence <= 30; sequence++) {
      const version = 10 + sequence;
      const facts = Array.from({ length: randomInteger(random, 1, 3) }, () => randomFact(random, version));
      const resourceVersions = { endpoints: `${version}`, endpointslices: `${version}` };
      messages.push(aChange(sequence, facts, { resourceVersions }));
    }
    const all = objectsOf(statesAfter(messages));
    for (let i = 1; i <= messages.length; i++) {
      const taken = snapshot(statesAfter(messages.slice(0, i)));
      if (taken === undefined) throw new Error('the state is settled');
      expect(objectsOf(statesAfter([taken, ...messages.slice(i)])), `snapshot after record ${i}`).toEqual(all);
    }
  },
);

test('where the state is known, a snapshot changes nothing', () => {
  const states = statesAfter([first]);
  const taken = snapshot(states);
  expect(taken && states.apply(keyText, taken, 9)?.changes).toEqual([]);
});

test('topology and what the watcher does not watch are in it', () => {
  const topology = { zoneRatios: null, nodesByZone: { a: 2 } };
  const { snapshot: whole } = first;
  if (whole === undefined) throw new Error('it is a snapshot');
  const facts: readonly Fact[] = [...first.facts, { kind: 'topology', topology, hintedServices: 1 }];
  const unwatched = ['nodes'];
  const messages = [{ ...first, facts, snapshot: { ...whole, unwatched } }, aChange(2, [fact.pod('b')])];
  const state = statesAfter(messages).get(keyText);
  const taken = state && snapshotOf(state, { similarPods: { label: 'app=crat', pods: 2 }, now: 5_000 });
  expect(taken).toMatchObject({ stamp: { sequence: 2 }, snapshot: { unwatched, initial: false } });
  expect(taken?.facts.map(({ kind }) => kind)).toEqual(['service', 'topology', 'pod', 'pod', 'slice']);
  expect(taken?.facts[0]).toMatchObject({ similarPods: { label: 'app=crat' } });
});

test('no snapshot is taken while something is about to follow', () => {
  const { snapshot: whole } = first;
  if (whole === undefined) throw new Error('it is a snapshot');
  expect(snapshot(statesAfter([{ ...first, snapshot: { ...whole, last: false } }]))).toBeUndefined();
  const { resourceVersions: _, ...partial } = aChange(2, [fact.pod('b')]);
  expect(snapshot(statesAfter([first, partial]))).toBeUndefined();
  expect(snapshot(statesAfter([aChange(1, [fact.pod('a')])]))).toBeUndefined();
});

const aPlan = (number: number, decidedAt: number): PlannedMutations => ({
  ...{ kind: 'mutations', key, controller: 'endpointslice', plan: { epoch: 1, number }, groups: [], events: [] },
  ...{ incomplete: [], serviceUid: 'service-uid', causes: noCauses, decidedAt },
});

test('a plan is waited for until its Outcome, in whichever order a log delivers them, or for a minute', () => {
  const [plan, next] = [aPlan(1, 4_000), aPlan(2, 4_000)];
  expect(snapshot(statesAfter([first, plan]))).toBeUndefined();
  expect(snapshot(statesAfter([first, plan, anOutcome(plan)]))).toBeDefined();
  expect(snapshot(statesAfter([first, anOutcome(plan), plan]))).toBeDefined();
  expect(snapshot(statesAfter([first, anOutcome(plan), plan, next]))).toBeUndefined();
  expect(snapshot(statesAfter([first, aPlan(1, 5_000 - 60_000)]))).toBeDefined();
});
