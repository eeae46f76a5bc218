import type { Message, MutationResult, Outcome } from '@sluice/messages';
import type { EndpointSlice } from '@sluice/model';
import { describe, expect, test } from 'vitest';
import {
  anOutcome,
  aPlan,
  endpointsFact,
  journalOf,
  observed,
  pod,
  podChange,
  record,
  service,
  shop,
  sliceFact,
  sliceOf,
  snapshot,
  topicOf,
  writeOfEndpoints,
} from '../testing/records.ts';
import { writesIn } from '../view/writes-in.ts';
import { Journal } from './journal.ts';

const slice = (version: string, ready = true): EndpointSlice => sliceOf('web-1', { version, ready });
const first = snapshot(1, 1_000, [service(), pod('web-1', {})]);
const plan = aPlan(1, 1_010, [{ verb: 'create', object: slice('') }]);
const outcome = anOutcome(1, 1_020, 1_000, [{ verb: 'create', version: '11' }]);

/** The entries of these messages in short: `decided 1010`. */
const timeline = (...messages: Message[]) => journalOf(...messages).entries.map(({ kind, at }) => `${kind} ${at}`);

describe('plans are merged into the Changes', () => {
  test('by the time of their decision', () => {
    const earlier = podChange(2, 1_009, pod('web-2', {}));
    const later = podChange(3, 1_011, pod('web-3', {}));
    expect(timeline(first, earlier, later, outcome, plan)).toEqual([
      'observed 1000',
      'observed 1009',
      'decided 1010',
      'observed 1011',
      'completed 1020',
    ]);
  });

  test('where they were decided, whatever the clocks say', () => {
    const change = podChange(2, 1_015, pod('web-2', {}));
    const onFirst = { stamp: first.stamp, inFlight: [] };
    const onChange = { stamp: change.stamp, inFlight: [] };
    const next = { ...aPlan(2, 1_001, [{ verb: 'update', object: slice('11', false) }]), basis: onChange };
    expect(timeline(first, change, outcome, { ...plan, basis: onFirst }, next)).toEqual([
      ...['observed 1000', 'decided 1010', 'observed 1015', 'completed 1020', 'decided 1001'],
    ]);
  });

  test('after their Change, although the log has it after the Outcome of a later plan', () => {
    const change = podChange(2, 1_015, pod('web-2', {}));
    const basis = { stamp: change.stamp, inFlight: [] };
    const [ofEndpoints, completed] = writeOfEndpoints(2, 1_025, '21');
    expect(timeline(first, completed, change, { ...plan, basis }, { ...ofEndpoints, basis })).toEqual([
      ...['observed 1000', 'observed 1015', 'decided 1010', 'decided 1025', 'completed 1035'],
    ]);
  });

  test('after their Change, although it is received after they were shown', () => {
    const change = podChange(2, 1_005, pod('web-2', {}));
    const journal = journalOf(first, { ...plan, basis: { stamp: change.stamp, inFlight: [] } });
    expect(journal.entries.map(({ kind }) => kind)).toEqual(['observed', 'decided']);
    journal.add('changes', record(change));
    expect(journal.entries.map(({ kind, at }) => `${kind} ${at}`)).toEqual([
      ...['observed 1000', 'observed 1005', 'decided 1010'],
    ]);
  });

  test('after a Change of the same time, which may be their cause', () => {
    expect(timeline(first, podChange(2, 1_010, pod('web-2', {})), outcome, plan)).toEqual([
      ...['observed 1000', 'observed 1010', 'decided 1010', 'completed 1020'],
    ]);
  });

  test('before their Outcome, even if its clock is behind', () => {
    expect(timeline(first, { ...outcome, completedAt: 900 }, plan)).toEqual([
      ...['observed 1000', 'decided 1010', 'completed 900'],
    ]);
  });

  test('before an Outcome of another plan that is later, and after one that is earlier', () => {
    const next = aPlan(2, 1_030, [{ verb: 'update', object: slice('11', false) }]);
    const ofEndpoints = writeOfEndpoints(1, 1_025, '21');
    expect(timeline(first, outcome, ofEndpoints[1], plan, next, ofEndpoints[0])).toEqual([
      ...['observed 1000', 'decided 1010', 'completed 1020', 'decided 1030', 'decided 1025', 'completed 1035'],
    ]);
  });

  test('after a Change without causes, whose time is that of the last event', () => {
    const change = { ...podChange(2, 0, pod('web-2', {})), causes: { first: [], more: 0 } };
    expect(timeline(first, change, outcome, plan)).toEqual([
      ...['observed 1000', 'observed 1000', 'decided 1010', 'completed 1020'],
    ]);
    expect(timeline(first, plan, outcome, change).at(-1)).toBe('observed 1020');
  });

  test('also if they are the only records, or a malformed one is before them', () => {
    expect(timeline(plan)).toEqual(['decided 1010']);
    const journal = new Journal(shop('web'));
    journal.add('mutations', { content: new TextEncoder().encode('{}'), receivedAt: 0 });
    for (const message of [first, plan, outcome]) journal.add(topicOf(message), record(message));
    expect(journal.entries.map(({ kind }) => kind)).toEqual(['observed', 'decided', 'completed']);
  });
});

describe('a redelivered plan', () => {
  test('has one entry, before and after its Outcome', () => {
    expect(timeline(first, plan, plan, outcome)).toEqual(['observed 1000', 'decided 1010', 'completed 1020']);
    const late = podChange(2, 2_000, pod('web-2', {}));
    const journal = journalOf(first, plan, outcome, late, plan);
    expect(journal.entries.map(({ kind }) => kind)).toEqual(['observed', 'decided', 'completed', 'observed']);
    expect(journal.state.planOf('endpointslice')).toBeUndefined();
  });

  test('is ignored after the records before it were dropped', () => {
    const journal = journalOf(first, plan, outcome);
    journal.dropBefore(Number.POSITIVE_INFINITY);
    journal.add('mutations', record(plan));
    expect(journal.entries).toEqual([]);
    expect(journal.state.planOf('endpointslice')).toBeUndefined();
  });

  test('is another one if it is of another controller or has a later number', () => {
    const [ofEndpoints] = writeOfEndpoints(1, 1_030, '21');
    const next = aPlan(2, 1_040, [{ verb: 'update', object: slice('11', false) }]);
    const { entries, state } = journalOf(first, plan, outcome, ofEndpoints, next);
    expect(entries.map(({ kind }) => kind)).toEqual(['observed', 'decided', 'completed', 'decided', 'decided']);
    expect(state.planOf('endpoints')?.plan.number).toBe(1);
    expect(state.planOf('endpointslice')?.plan.number).toBe(2);
  });
});

describe('an Outcome', () => {
  test('shows the endpoints that its plan changed after the records before it were dropped', () => {
    const journal = journalOf(first, plan);
    journal.dropBefore(Number.POSITIVE_INFINITY);
    journal.add('changes', record(outcome));
    expect(journal.entries).toMatchObject([{ kind: 'completed', endpoints: [{ type: 'added', pod: 'web-1' }] }]);
  });

  test('of a write that failed changes no endpoint', () => {
    const results = outcome.results.map((result) => ({ ...result, status: 'failed' as const }));
    const conflict = { ...outcome, status: 'conflict' as const, message: 'changed', results };
    expect(journalOf(first, plan, conflict).entries.at(-1)).toMatchObject({
      ...{ status: 'conflict', message: 'changed', endpoints: [] },
      writes: [{ verb: 'create', resource: 'endpointslices', name: 'web-slice', ok: false }],
    });
  });

  test('of a write that had to be read back shows what is stored', () => {
    const results = outcome.results.map((result) => ({ ...result, current: slice('11', false) }));
    expect(journalOf(first, plan, { ...outcome, results }).entries.at(-1)).toMatchObject({
      endpoints: [{ type: 'added', after: { ready: false } }],
    });
  });

  test('of a deletion removes its endpoints', () => {
    const mutations = [{ verb: 'delete', resource: 'endpointslices', name: 'web-slice', uid: 'slice-uid' }] as const;
    const deletion = { ...aPlan(2, 2_010, []), groups: [{ mutations }] };
    const deleted = {
      ...{ ...outcome, plan: { epoch: 1, number: 2 }, decidedAt: 2_010, completedAt: 2_020 },
      results: outcome.results.map(({ stored: _, ...result }) => ({ ...result, verb: 'delete' as const })),
    };
    const { entries, state } = journalOf(first, plan, outcome, deletion, deleted);
    expect(entries.at(-2)).toMatchObject({
      kind: 'decided',
      mutations: [{ verb: 'delete', name: 'web-slice', endpoints: [{ type: 'removed', pod: 'web-1' }] }],
    });
    expect(entries.at(-1)).toMatchObject({ endpoints: [{ type: 'removed', pod: 'web-1', after: null }] });
    expect(state.slices.size).toBe(0);
  });

  test('of the Endpoints changes no endpoint, because they repeat the slices', () => {
    const { entries } = journalOf(first, ...writeOfEndpoints(1, 1_010, '11'));
    expect(entries.slice(1)).toMatchObject([
      { kind: 'decided', mutations: [{ resource: 'endpoints', name: 'web', endpoints: [] }] },
      { kind: 'completed', endpoints: [], writes: [{ resource: 'endpoints', name: 'web', ok: true }] },
    ]);
  });

  test('takes from its first cause until the last response, if it has a cause', () => {
    const last = (given: Partial<typeof outcome>) => journalOf(first, plan, { ...outcome, ...given }).entries.at(-1);
    expect(last({})).toMatchObject({ latencyMs: 20, applyMs: 3, retries: 0 });
    expect(last({ causes: { first: [], more: 0 } })).toMatchObject({ latencyMs: null, applyMs: 3 });
    expect(last({ completedAt: 900 }), 'clocks differ').toMatchObject({ latencyMs: 0, applyMs: 0 });
  });
});

test('a plan shows its reasons to be incomplete, its Events, its causes and the endpoints that it will change', () => {
  const causes = { first: [{ description: 'Node node-a deleted', observedAt: 1_000 }], more: 2 };
  const regarding = { kind: 'Service', namespace: 'shop', name: 'web' } as const;
  const event = {
    type: 'Normal',
    reason: 'TopologyAwareHintsEnabled',
    message: 'hints have been enabled',
    regarding,
  } as const;
  const described = { ...plan, causes, incomplete: ['Node node-a not found'], events: [event] };
  expect(journalOf(first, described).entries.at(-1)).toEqual({
    ...{ kind: 'decided', at: 1_010, controller: 'endpointslice', plan: { epoch: 1, number: 1 } },
    ...{ causes, incomplete: ['Node node-a not found'] },
    events: [{ reason: 'TopologyAwareHintsEnabled', message: 'hints have been enabled' }],
    mutations: [
      {
        ...{ verb: 'create', resource: 'endpointslices', name: 'web-slice' },
        endpoints: [expect.objectContaining({ type: 'added', pod: 'web-1' })],
      },
    ],
  });
});

test('a write of another client is reported once the Outcome tells whose write the watch delivered', () => {
  const theirs = podChange(2, 1_015, sliceFact(slice('15')));
  expect(observed(journalOf(first, plan, theirs))).toHaveLength(2);
  const { entries } = journalOf(first, plan, theirs, outcome);
  expect(entries.at(-1)).toMatchObject({ kind: 'observed', at: 1_020, causes: { first: [], more: 0 } });
  const another = anOutcome(7, 1_020, 1_000, [{ verb: 'create', version: '11' }]);
  expect(observed(journalOf(first, plan, theirs, another)), 'of another plan').toHaveLength(2);
});

describe('a write whose plan got no answer', () => {
  const update = aPlan(2, 5_001, [{ verb: 'update', object: slice('11', false) }]);
  const [unanswered] = anOutcome(2, 15_000, 5_000, [{ verb: 'update', version: '' }]).results;
  const failed: Outcome = {
    ...anOutcome(2, 15_000, 5_000, []),
    ...{ status: 'unavailable', message: 'no answer in time' },
    results: [{ ...unanswered, status: 'failed', error: 'no answer in time' } as MutationResult],
  };
  const before = [first, plan, outcome, podChange(2, 5_000, pod('web-1', { ready: false })), update, failed];
  const seen = (given: Partial<Parameters<typeof sliceFact>[1]> = {}, ready = false) =>
    podChange(3, 20_000, sliceFact(slice('12', ready), given));

  test('is not of another client when the API server executes it later', () => {
    const journal = journalOf(...before, seen());
    expect(observed(journal).at(-1)).toBe('slice web-slice was modified by plan 1/2, which got no answer');
    expect(journal.entries.flatMap(writesIn).map(({ at }) => at)).toEqual([1_020, 15_000]);
    expect(journal.state.otherWrites).toEqual([]);
  });

  test.each(['unavailable', 'conflict'] as const)(
    'is not of another client if the watch event came before the plan ended: %s',
    (status) => {
      const echo = podChange(3, 5_010, sliceFact(slice('12', false)));
      expect(observed(journalOf(...before.slice(0, -1), echo, { ...failed, status })).at(-1)).toBe(
        'slice web-slice was modified by plan 1/2, which got no answer',
      );
    },
  );

  test('is not of another client if the next owner of the partition gave its plan back', () => {
    const message = 'a former owner of the partition may have applied it';
    const journal = journalOf(...before.slice(0, -1), { ...failed, status: 'conflict', message }, seen());
    expect(journal.entries.flatMap(writesIn).filter(({ controller }) => controller === '')).toEqual([]);
  });

  test('may be a deletion, or of Endpoints', () => {
    const deletion = {
      ...aPlan(2, 5_001, []),
      groups: [{ mutations: [{ verb: 'delete', resource: 'endpointslices', name: 'web-slice', uid: 'slice-uid' }] }],
    } as const;
    const gone = podChange(3, 20_000, sliceFact(null));
    expect(observed(journalOf(first, plan, outcome, deletion, failed, gone)).at(-1)).toBe(
      'slice web-slice was deleted by plan 1/2, which got no answer',
    );
    const [ofEndpoints, completed] = writeOfEndpoints(2, 5_001, '21');
    const unanswered = { ...completed, status: 'unavailable', results: [] } as const;
    const written = podChange(3, 20_000, endpointsFact('22'));
    expect(observed(journalOf(first, ofEndpoints, unanswered, written)).at(-1)).toBe(
      'endpoints web were modified by plan 1/2, which got no answer',
    );
  });

  test('is of another client if the API server refused the plan', () => {
    const refused = { ...failed, status: 'rejected', message: 'denied' } as const;
    expect(observed(journalOf(...before.slice(0, -1), refused, seen())).at(-1)).toMatch(/by another client/);
  });

  test('differs from a write of another client, which leaves other content or has a field manager', () => {
    const text = (change: Message) => observed(journalOf(...before, change)).at(-1);
    expect(text(seen({}, true))).toMatch(/was modified by another client/);
    expect(text(seen({ manager: 'kubectl-edit' }))).toMatch(/was modified by kubectl-edit/);
  });

  test('is expected once, and not after a later plan', () => {
    const again = podChange(4, 21_000, sliceFact(slice('13', false)));
    expect(observed(journalOf(...before, seen(), again)).at(-1)).toMatch(/was modified by another client/);
    const next = aPlan(3, 16_000, [{ verb: 'update', object: slice('11', false) }]);
    const applied = anOutcome(3, 16_010, 5_000, [{ verb: 'update', version: '12' }]);
    const later = podChange(3, 20_000, sliceFact(slice('13', false)));
    expect(observed(journalOf(...before, next, applied, later)).at(-1)).toMatch(/was modified by another client/);
  });

  test('is known after older records were dropped', () => {
    const journal = journalOf(...before);
    for (let n = 0; n < 4; n++) journal.halve();
    journal.add('changes', record(seen()));
    expect(observed(journal).at(-1)).toBe('slice web-slice was modified by plan 1/2, which got no answer');
  });
});

describe('the removal of the cluster', () => {
  const removed = (given: object = {}) =>
    ({ kind: 'clusterRemoved', cluster: 'cluster-uid', epoch: 1, removedAt: 9_000, ...given }) as Message;
  const text = 'cluster  was removed from the fleet or restored from a backup: what was known of it is discarded';

  test('discards what was known and says so', () => {
    const journal = journalOf(first, plan, outcome, removed());
    expect(observed(journal).at(-1)).toBe(text);
    const { isRemoved, isEmpty, isComplete } = journal.state;
    expect({ isRemoved, isEmpty, isComplete }).toEqual({ isRemoved: true, isEmpty: true, isComplete: false });
    expect(journal.entries.at(-1)).toMatchObject({ at: 9_000, causes: { first: [], more: 0 } });
  });

  test('has the time of the last event if its own is unknown', () => {
    expect(journalOf(first, plan, outcome, removed({ removedAt: undefined })).entries.at(-1)?.at).toBe(1_020);
  });

  test('comes after a plan that was decided before it', () => {
    expect(timeline(first, removed({ removedAt: 1_010 }), plan)).toEqual([
      ...['observed 1000', 'decided 1010', 'observed 1010'],
    ]);
    expect(timeline(first, removed({ removedAt: 1_009 }), plan)).toEqual([
      ...['observed 1000', 'observed 1009', 'decided 1010'],
    ]);
    expect(timeline(first, removed({ removedAt: undefined }), plan)).toEqual([
      ...['observed 1000', 'decided 1010', 'observed 1000'],
    ]);
  });

  test('by an earlier watcher, or of a Service of which nothing exists, is no entry', () => {
    expect(observed(journalOf(first, removed({ epoch: 0 })))).not.toContain(text);
    expect(observed(journalOf(removed()))).toEqual([]);
    expect(journalOf(removed()).state.isRemoved).toBe(true);
  });

  test('stays when only what was sent before arrives late', () => {
    const late = { ...podChange(0, 9_500, pod('web-1', {})), stamp: { epoch: 0, sequence: 0 } };
    for (const messages of [[plan], [plan, outcome], [late]])
      expect(journalOf(first, removed({ removedAt: 1_000 }), ...messages).state.isRemoved).toBe(true);
  });

  test('is over when something is published again', () => {
    const again = snapshot(2, 10_000, [service(), pod('web-1', {})]);
    const { isRemoved, isComplete } = journalOf(first, removed(), again).state;
    expect({ isRemoved, isComplete }).toEqual({ isRemoved: false, isComplete: true });
  });

  test('discards refusals', () => {
    const refused = { ...outcome, status: 'rejected' as const, results: [], message: 'denied' };
    expect(journalOf(first, plan, refused).state.refused.get('endpointslice')).toEqual({
      ...{ message: 'denied', since: 1_020 },
    });
    expect(journalOf(first, plan, refused, removed()).state.refused.size).toBe(0);
  });
});
