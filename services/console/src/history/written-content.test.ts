import type { Message } from '@sluice/messages';
import type { EndpointSlice, Endpoints } from '@sluice/model';
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
  const ready = slice('11');
  const echo = podChange(2, 1_030, sliceFact(ready));
  const foreign = podChange(2, 1_030, sliceFact(sliceOf('web-1', { version: '15', ready: false })));
  const subsets = [{ addresses: [{ ip: '10.0.0.1' }], ports: [{ port: 8080 }] }];
  const [planned, done] = writeOfEndpoints(1, 1_010, '21');
  const groups = planned.groups.map(({ mutations }) => ({
    mutations: mutations.map((mutation) => ({ ...mutation, object: { ...someEndpoints(), subsets } })),
  }));
  const planOfEndpoints = { ...planned, groups } as typeof planned;
  const endpointsEcho = (version: string, watched: NonNullable<Endpoints['subsets']>) => {
    const { endpoints, ...fact } = endpointsFact(version);
    return podChange(3, 1_030, { ...fact, endpoints: endpoints && { ...endpoints, subsets: watched } });
  };

  test('is kept once: a watch echo shares it with the plan', () => {
    expect(addedBytes(first, plan, outcome, echo)).toBeLessThan(addedBytes(first, plan, outcome, foreign));
    expect(addedBytes(first, plan, echo)).toBe(addedBytes(first, plan, outcome, echo));
    const journal = retained(first, plan, outcome, echo);
    expect(stored(journal)).toMatchObject({ metadata: { resourceVersion: '11' }, endpoints: slice('').endpoints });
  });

  test('is kept once also for Endpoints', () => {
    const watched = endpointsEcho('21', structuredClone(subsets));
    const other = endpointsEcho('25', [{ addresses: [{ ip: '10.0.0.2' }], ports: [{ port: 8080 }] }]);
    const write = [first, planOfEndpoints, done] as const;
    expect(addedBytes(...write, watched)).toBeLessThan(addedBytes(...write, other));
    const journal = retained(...write, watched);
    expect(journal.state.endpoints).toMatchObject({ metadata: { resourceVersion: '21' }, subsets });
    expect(observed(journal)).not.toContain('endpoints web were modified by another client');
  });

  test('is kept in the form in which the bus has it', () => {
    const journal = retained(first, plan, outcome);
    const encoded = toAppend(echo);
    const { bytes } = journal;
    journal.add('changes', retain(encoded, 0));
    expect(journal.bytes - bytes).toBe(encoded.payload.length);
  });

  test('is there before the Outcome is applied, whatever else the plan writes', () => {
    const other = { ...slice(''), metadata: { ...slice('').metadata, name: 'other' }, endpoints: [] };
    const deletion = { verb: 'delete', resource: 'endpointslices', name: 'old', uid: 'old' } as const;
    const creates = [other, slice('')].map(
      (object) => ({ verb: 'create', resource: 'endpointslices', object }) as const,
    );
    const [result] = outcome.results;
    if (result === undefined) return expect.unreachable();
    const journal = retained(
      first,
      planOfEndpoints,
      { ...plan, groups: [{ mutations: [deletion, ...creates] }] },
      { ...podChange(2, 1_015, ...echo.facts, ...endpointsEcho('21', subsets).facts) },
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

  test('is not confused with what a Change says of other objects', () => {
    const other = { ...ready, metadata: { ...ready.metadata, name: 'other', uid: 'other' } };
    const both = podChange(
      2,
      1_030,
      sliceFact(ready),
      sliceFact(other, { name: 'other', uid: 'other' }),
      pod('web-1', { ready: false }),
      endpointsFact('11'),
    );
    const journal = retained(first, plan, outcome, both);
    expect(journal.state.slices.get('other')?.slice.endpoints).toHaveLength(1);
    expect(stored(journal)?.endpoints).toHaveLength(1);
    expect(observed(journal).slice(2)).toEqual([
      'slice other exists with 1 endpoints',
      'pod web-1 became not ready',
      'endpoints web exist',
    ]);
  });

  test('does not replace what a later plan has made of the object', () => {
    const notReady = sliceOf('web-1', { version: '11', ready: false });
    const next = aPlan(2, 1_025, [{ verb: 'update', object: notReady }]);
    const journal = retained(first, plan, outcome, next, echo);
    expect(stored(journal)?.endpoints).toEqual(slice('').endpoints);
  });

  test('does not replace what a mutating webhook has made of the write', () => {
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
