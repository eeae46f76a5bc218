import type { Change, Message } from '@sluice/messages';
import type { EndpointSlice } from '@sluice/model';
import { someEndpoints } from '@sluice/model/testing';
import { describe, expect, test } from 'vitest';
import {
  anOutcome,
  aPlan,
  endpointsFact,
  observed,
  pod,
  podChange,
  service,
  shop,
  sliceFact,
  sliceOf,
  snapshot,
  toAppend,
  topicOf,
  writeOfEndpoints,
} from '../testing/records.ts';
import { Journal } from './journal.ts';
import { retain } from './retained-record.ts';

const slice = (version: string): EndpointSlice => sliceOf('web-1', { version, ready: true });
const first = snapshot(1, 1_000, [service(), pod('web-1', {})]);
const plan = aPlan(1, 1_010, [{ verb: 'create', object: slice('') }]);
const outcome = anOutcome(1, 1_020, 1_000, [{ verb: 'create', version: '11' }]);

/** The history of messages of this process, which are retained as objects. */
function retained(...messages: Message[]): Journal {
  const journal = new Journal(shop('web'));
  for (const message of messages) journal.add(topicOf(message), retain({ ...toAppend(message), message }, 0));
  return journal;
}
/** Size that the last message adds. */
const addedBytes = (...messages: Message[]) => retained(...messages).bytes - retained(...messages.slice(0, -1)).bytes;
const stored = (journal: Journal) => journal.state.slices.get('web-slice')?.slice;

describe('the content of an object that Sluice wrote', () => {
  const echo = podChange(2, 1_030, sliceFact(slice('11')));
  const foreign = podChange(2, 1_030, sliceFact(slice('15')));
  const before = [first, plan, outcome] as const;

  test('is kept once: the plan has it', () => {
    expect(addedBytes(...before, echo)).toBeLessThan(addedBytes(...before, foreign));
    expect(stored(retained(...before, echo))).toMatchObject({
      metadata: { resourceVersion: '11' },
      endpoints: slice('').endpoints,
    });
  });

  test('is kept once also for Endpoints', () => {
    const subsets = [{ addresses: [{ ip: '10.0.0.1' }], ports: [{ port: 8080 }] }];
    const [planned, done] = writeOfEndpoints(1, 1_010, '11');
    const groups = planned.groups.map(({ mutations }) => ({
      mutations: mutations.map((mutation) => ({ ...mutation, object: { ...someEndpoints(), subsets } })),
    }));
    const write = [first, { ...planned, groups } as typeof planned, done] as const;
    const watched = (version: string) => {
      const { endpoints, ...fact } = endpointsFact(version);
      return podChange(2, 1_030, { ...fact, endpoints: endpoints && { ...endpoints, subsets } });
    };
    expect(addedBytes(...write, watched('11'))).toBeLessThan(addedBytes(...write, watched('15')));
    const journal = retained(...write, watched('11'));
    expect(journal.state.endpoints).toMatchObject({ metadata: { resourceVersion: '11' }, subsets });
    expect(observed(journal)).not.toContain('endpoints web were modified by another client');
    const early = retained(first, write[1], watched('11'), done);
    expect(early.state.endpoints).toMatchObject({ metadata: { resourceVersion: '11' }, subsets });
    expect(early.bytes).toBe(journal.bytes);
  });

  test('is kept in a snapshot, and in the form in which the bus has it', () => {
    const again = snapshot(2, 1_030, [service(), pod('web-1', {}), sliceFact(slice('11'))]);
    const sizes = [slice('11'), slice('15')].map((one) =>
      addedBytes(...before, { ...again, facts: [service(), pod('web-1', {}), sliceFact(one)] }),
    );
    expect(sizes[0]).toBe(sizes[1]);
    expect(stored(retained(...before, again))?.endpoints).toHaveLength(1);
    const journal = retained(...before);
    const encoded = toAppend(echo);
    const { bytes } = journal;
    journal.add('changes', retain(encoded, 0));
    expect(journal.bytes - bytes).toBe(encoded.payload.length);
  });

  test('is kept if another client has deleted the object since', () => {
    const mutations = [{ verb: 'delete', resource: 'endpointslices', name: 'web-slice', uid: 'slice-uid' }] as const;
    const deletion = { ...aPlan(2, 1_040, []), groups: [{ mutations }] };
    const deleted = {
      ...{ ...outcome, plan: { epoch: 1, number: 2 }, completedAt: 1_050 },
      results: outcome.results.map(({ stored: _, ...result }) => ({ ...result, verb: 'delete' as const })),
    };
    const late = podChange(2, 1_060, sliceFact(slice('11')));
    expect(addedBytes(...before, deletion, deleted, late)).toBe(addedBytes(...before, deletion, deleted, foreign));
  });

  test('is kept if the write had to be read back, because what is stored may differ from the plan', () => {
    const results = outcome.results.map((result) => ({ ...result, current: slice('11') }));
    const readBack = { ...outcome, results };
    expect(addedBytes(first, plan, readBack, echo)).toBe(addedBytes(first, plan, readBack, foreign));
  });

  test('is not confused with what a Change says of other objects', () => {
    const other = { ...slice('11'), metadata: { ...slice('11').metadata, name: 'other', uid: 'other' } };
    const both = podChange(
      2,
      1_030,
      sliceFact(slice('11')),
      sliceFact(other, { name: 'other', uid: 'other' }),
      pod('web-1', { ready: false }),
      endpointsFact('11'),
    );
    const journal = retained(...before, both);
    expect(journal.state.slices.get('other')?.slice.endpoints).toHaveLength(1);
    expect(stored(journal)?.endpoints).toHaveLength(1);
    const foreignBoth = { ...both, facts: [sliceFact(slice('15')), ...both.facts.slice(1)] };
    expect(addedBytes(...before, both)).toBeLessThan(addedBytes(...before, foreignBoth));
    expect(observed(journal).slice(2)).toEqual([
      'slice other exists with 1 endpoints',
      'pod web-1 became not ready',
      'endpoints web exist',
    ]);
  });
});

describe('what a watch echo shares with a plan', () => {
  const subsets = [{ addresses: [{ ip: '10.0.0.1' }], ports: [{ port: 8080 }] }];
  const endpointsEcho = endpointsFact('21', {
    endpoints: someEndpoints({
      metadata: { name: 'web', namespace: 'shop', uid: 'endpoints-uid', resourceVersion: '21' },
      subsets,
    }),
  });
  const watched = podChange(2, 1_015, sliceFact(slice('11')), endpointsEcho);
  const echo = podChange(2, 1_015, sliceFact(slice('11')));

  test('is there before the Outcome is applied', () => {
    const other = { ...slice(''), metadata: { ...slice('').metadata, name: 'other' }, endpoints: [] };
    const deletion = { verb: 'delete', resource: 'endpointslices', name: 'old', uid: 'old' } as const;
    const creates = [other, slice('')].map(
      (object) => ({ verb: 'create', resource: 'endpointslices', object }) as const,
    );
    const [{ controller, groups }, done] = writeOfEndpoints(1, 1_010, '21');
    const ofEndpoints = groups.map(({ mutations }) => ({
      mutations: mutations.map((mutation) => ({ ...mutation, object: { ...someEndpoints(), subsets } })),
    }));
    const planned = { ...plan, groups: [{ mutations: [deletion, ...creates] }] };
    const [result] = outcome.results;
    if (result === undefined) return expect.unreachable();
    const journal = retained(
      first,
      { ...plan, controller, groups: ofEndpoints } as typeof plan,
      planned,
      watched,
      { ...outcome, completedAt: 1_020, results: [{ ...result, index: 2 }] },
      done,
    );
    const between = journal.stateAt(1_019);
    expect(between.planOf('endpointslice')).toBeDefined();
    expect(between.slices.get('web-slice')?.slice).toMatchObject({
      metadata: { resourceVersion: '11' },
      endpoints: slice('').endpoints,
    });
    expect(between.slices.size).toBe(1);
    expect(between.endpoints).toMatchObject({ metadata: { resourceVersion: '21' }, subsets });
  });

  test('is what the watch has delivered, if the plan was lost, and is not taken for a write of another client', () => {
    const journal = retained(first, outcome, writeOfEndpoints(1, 1_010, '21')[1], watched);
    expect(stored(journal)).toMatchObject({ metadata: { resourceVersion: '11' }, endpoints: slice('').endpoints });
    expect(journal.state.endpoints).toMatchObject({ metadata: { resourceVersion: '21' }, subsets });
    expect(observed(journal)).toEqual(observed(retained(first)));
  });

  test('is shared also if the plan is read after its Outcome', () => {
    const sizes = [[plan, outcome, echo] as const, [outcome, echo, plan] as const].map(
      (records) => retained(first, ...records).bytes,
    );
    expect(sizes[1]).toBe(sizes[0]);
  });

  test('belongs to the plan that wrote it, not to the one in flight', () => {
    const notReady = sliceOf('web-1', { version: '11', ready: false });
    const next = aPlan(2, 1_025, [{ verb: 'update', object: notReady }]);
    const journal = retained(first, plan, outcome, next, podChange(2, 1_030, sliceFact(slice('11'))));
    expect(stored(journal)?.endpoints).toEqual(slice('').endpoints);
  });

  test('is not what a mutating webhook has made of the write', () => {
    const changed = { ...slice('11'), endpoints: [] };
    const journal = retained(first, plan, outcome, podChange(2, 1_030, sliceFact(changed)));
    expect(stored(journal)?.endpoints).toEqual([]);
  });

  test('counts with the Change once the plan is dropped', () => {
    const journal = retained(first, plan, outcome, echo);
    const { bytes } = journal;
    expect(bytes - retained(first, plan, outcome).bytes).toBeLessThan(retained(echo).bytes);
    journal.halve();
    expect(journal.bytes).toBe(retained(outcome, echo).bytes);
  });
});

test('a Change of the Service is shown although it also has what Sluice wrote of the Endpoints', () => {
  const [planned, done] = writeOfEndpoints(1, 1_010, '11');
  const both = podChange(2, 1_030, service({ deleting: true }), endpointsFact('11'));
  expect(observed(retained(first, planned, done, both)).at(-1)).toBe('service web is being deleted');
});

test('of many watch echoes that arrive before their Outcome, the last ones are recognised', () => {
  const updates = Array.from(
    { length: 12 },
    (_, i): Change => podChange(i + 2, 1_011, sliceFact(slice(String(i + 1)))),
  );
  const last = retained(first, plan, ...updates);
  const { bytes } = last;
  last.add(
    'changes',
    retain({ ...toAppend(outcome), message: anOutcome(1, 1_020, 1_000, [{ verb: 'create', version: '12' }]) }, 0),
  );
  expect(last.bytes - bytes).toBeLessThan(addedBytes(first, plan, outcome));
  expect(last.state.slices.get('web-slice')?.slice.endpoints).toHaveLength(1);
});
