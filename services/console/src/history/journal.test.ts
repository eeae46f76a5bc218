import type { Message, Outcome } from '@sluice/messages';
import { describe, expect, test } from 'vitest';
import {
  anOutcome,
  aPlan,
  flip,
  journalOf,
  pod,
  podChange,
  record,
  service,
  shop,
  sliceOf,
  snapshot,
  toAppend,
  topicOf,
} from '../testing/records.ts';
import { Journal } from './journal.ts';
import { retain } from './retained-record.ts';

const web = shop('web');

describe('Journal', () => {
  test('contains observed, decided and completed entries with the changed endpoints', () => {
    const { entries } = journalOf(...flip());
    expect(entries.map(({ kind, at }) => [kind, at])).toEqual([
      ['observed', 1_000],
      ['decided', 1_010],
      ['completed', 1_020],
      ['observed', 5_000],
      ['decided', 5_001],
      ['completed', 5_004],
    ]);
    const last = entries.at(-1);
    expect(last).toMatchObject({ latencyMs: 4, applyMs: 3, endpoints: [{ type: 'changed', pod: 'web-1' }] });
    expect(entries[3]).toMatchObject({ observations: [{ of: 'pod', name: 'web-1', text: 'became not ready' }] });
  });

  test('returns the state at a past time', () => {
    const journal = journalOf(...flip());
    const readyAt = (at: number) =>
      [...journal.stateAt(at).slices.values()][0]?.slice.endpoints?.[0]?.conditions?.ready;
    expect([readyAt(999), readyAt(1_015), readyAt(1_020), readyAt(5_003), readyAt(5_004)]).toEqual([
      undefined,
      undefined,
      true,
      true,
      false,
    ]);
    expect(journal.stateAt(4_999).pods.get('web-1')?.pod.ready).toBe(true);
    expect(journal.stateAt(5_000).pods.get('web-1')?.pod.ready).toBe(false);
  });

  test('the state at a past time lacks later records, also those without entries', () => {
    const unknown = podChange(3, 9_000, { kind: 'slice', name: 'db-slice', uid: 'db-uid', slice: null });
    const journal = journalOf(...flip(), unknown);
    expect(journal.entries).toHaveLength(6);
    const sequenceAt = (at: number) => journal.stateAt(at).state.snapshot.stamp.sequence;
    expect([sequenceAt(5_004), sequenceAt(8_999), sequenceAt(9_000)]).toEqual([2, 2, 3]);
  });

  test('moves a plan that arrives after its Outcome before it', () => {
    const [first, plan, outcome, ...rest] = flip();
    const journal = journalOf(first, outcome, ...rest);
    expect(journal.entries[1]).toMatchObject({ kind: 'completed', endpoints: [] });
    const late = new Journal(web);
    for (const message of [first, outcome]) late.add('changes', record(message));
    expect(late.entries).toHaveLength(2);
    late.add('mutations', record(plan));
    expect(late.entries.map(({ kind }) => kind)).toEqual(['observed', 'decided', 'completed']);
    expect(late.entries[2]).toMatchObject({ endpoints: [{ type: 'added', pod: 'web-1' }] });
  });

  test('ignores the watch echo of a write, whenever it arrives, and reports writes of other clients', () => {
    const [first, plan, outcome] = flip();
    const echo = { kind: 'slice', name: 'web-slice', uid: 'slice-uid' } as const;
    const ours = sliceOf('web-1', { version: '11', ready: true });
    const theirs = sliceOf('web-1', { version: '15', ready: true });
    const early = journalOf(first, plan, podChange(2, 1_015, { ...echo, slice: ours }), outcome);
    expect(early.entries.map(({ kind }) => kind)).toEqual(['observed', 'decided', 'completed']);
    expect(early.entries[2]).toMatchObject({ endpoints: [{ type: 'added' }] });
    const late = journalOf(first, plan, outcome, podChange(2, 1_030, { ...echo, slice: ours }));
    expect(late.entries.map(({ kind }) => kind)).toEqual(['observed', 'decided', 'completed']);
    const foreign = journalOf(first, plan, outcome, podChange(2, 1_030, { ...echo, slice: theirs }));
    expect(foreign.entries.at(-1)).toMatchObject({
      observations: [{ of: 'slice', text: 'was modified by another client' }],
    });
    const meanwhile = journalOf(first, plan, podChange(2, 1_015, { ...echo, slice: theirs }), outcome);
    expect(meanwhile.entries.at(-1)).toMatchObject({
      observations: [{ of: 'slice', text: 'was modified by another client' }],
    });
  });

  test('says which endpoints another client changed, and where a relabelled slice went', () => {
    const [first, plan, outcome] = flip();
    const echo = { kind: 'slice', name: 'web-slice', uid: 'slice-uid' } as const;
    const textAfter = (fact: Parameters<typeof podChange>[2]) => {
      const entry = journalOf(first, plan, outcome, podChange(2, 1_030, fact)).entries.at(-1);
      return entry?.kind === 'observed' ? entry.observations.map(({ text }) => text) : [];
    };
    const emptied = { ...sliceOf('web-1', { version: '15', ready: true }), endpoints: [] };
    expect(textAfter({ ...echo, slice: emptied })).toEqual(['was modified by another client: − web-1']);
    const named = { ...echo, slice: emptied, manager: 'kubectl-patch' };
    expect(textAfter(named)).toEqual(['was modified by kubectl-patch: − web-1']);
    const meanwhile = journalOf(first, plan, podChange(2, 1_015, named), outcome).entries.at(-1);
    expect(meanwhile).toMatchObject({ observations: [{ text: 'was modified by kubectl-patch: − web-1' }] });
    const gone = { ...echo, slice: null, relabelled: true } as const;
    expect(textAfter({ ...gone, labelledFor: '' })).toEqual(['lost its label kubernetes.io/service-name']);
    expect(textAfter({ ...gone, labelledFor: 'db', manager: 'kubectl-label' })).toEqual([
      'was relabelled to Service db (kubectl-label)',
    ]);
  });

  test('keeps the content of a watch echo once with the plan, but not that of other writes', () => {
    const [first, plan, outcome] = flip();
    const watched = (at: number, version: string, ready = true) => {
      const slice = sliceOf('web-1', { version, ready });
      return podChange(2, at, { kind: 'slice', name: 'web-slice', uid: 'slice-uid', slice });
    };
    const retained = (...messages: Message[]) => {
      const journal = new Journal(web);
      for (const message of messages) journal.add(topicOf(message), retain({ ...toAppend(message), message }, 0));
      return journal;
    };
    const early = retained(first, plan, watched(1_015, '11'), outcome);
    const late = retained(first, plan, outcome, watched(1_030, '11'));
    const foreign = retained(first, plan, outcome, watched(1_030, '15', false));
    expect(early.bytes).toBe(late.bytes);
    expect(early.bytes).toBeLessThan(foreign.bytes);
    for (const journal of [early, late]) {
      expect(journal.entries.map(({ kind }) => kind)).toEqual(['observed', 'decided', 'completed']);
      expect(journal.state.slices.get('web-slice')?.slice.metadata.resourceVersion).toBe('11');
    }
    expect(foreign.state.slices.get('web-slice')?.slice.metadata.resourceVersion).toBe('15');
  });

  test('ignores the watch echo of Endpoints while their plan is in flight', () => {
    const object = { metadata: { name: 'web', namespace: 'shop', uid: 'e' }, subsets: [] };
    const stored = { uid: 'e', resourceVersion: '11', generation: 1 };
    const watched = (version: string) => ({
      ...{ kind: 'endpoints' as const, uid: 'e' },
      endpoints: { ...object, metadata: { ...object.metadata, resourceVersion: version } },
    });
    const mutation = { verb: 'create', resource: 'endpoints', object } as const;
    const plan = { ...aPlan(1, 1_010, []), controller: 'endpoints' as const, groups: [{ mutations: [mutation] }] };
    const result = {
      group: 0,
      index: 0,
      verb: 'create',
      resource: 'endpoints',
      name: 'web',
      status: 'applied',
      stored,
    };
    const outcome = { ...anOutcome(1, 1_020, 1_000, []), controller: 'endpoints', results: [result] } as Outcome;
    const first = snapshot(1, 1_000, [service()]);
    const echo = journalOf(first, plan, podChange(2, 1_015, watched('11')), outcome);
    expect(echo.entries.map(({ kind }) => kind)).toEqual(['observed', 'decided', 'completed']);
    const theirs = journalOf(first, plan, podChange(2, 1_015, watched('15')), outcome);
    expect(theirs.entries.at(-1)).toMatchObject({
      observations: [{ of: 'endpoints', text: 'were modified by another client' }],
    });
    const edit = { ...watched('15'), manager: 'kubectl-edit' };
    const later = journalOf(first, plan, outcome, podChange(2, 1_030, edit));
    const meanwhile = journalOf(first, plan, podChange(2, 1_015, edit), outcome);
    for (const { entries } of [later, meanwhile])
      expect(entries.at(-1)).toMatchObject({
        observations: [{ of: 'endpoints', text: 'were modified by kubectl-edit' }],
      });
  });

  test('removes objects that a later snapshot does not contain', () => {
    const journal = journalOf(
      snapshot(1, 1_000, [service(), pod('web-1', {}), pod('web-2', {})]),
      snapshot(2, 9_000, [service(), pod('web-2', {})]),
    );
    expect([...journal.state.pods.keys()]).toEqual(['web-2']);
    expect(journal.entries.at(-1)).toMatchObject({ observations: [{ name: 'web-1' }] });
  });

  test('ignores a duplicate or late Change', () => {
    const [first, , , change] = flip();
    const journal = journalOf(first, change, change, first);
    expect(journal.entries).toHaveLength(2);
    expect(journal.state.pods.get('web-1')?.pod.ready).toBe(false);
  });

  test('keeps the effect of dropped records', () => {
    const journal = journalOf(...flip());
    const before = journal.entries.slice(3);
    const { bytes } = journal;
    journal.halve();
    expect(journal.bytes).toBeLessThan(bytes);
    expect(journal.entries).toEqual(before);
    expect(journal.state.slices.get('web-slice')?.slice.endpoints?.[0]?.conditions?.ready).toBe(false);
    journal.dropBefore(Number.POSITIVE_INFINITY);
    expect(journal.bytes).toBe(0);
    expect(journal.entries).toEqual([]);
    expect(journal.state.pods.size).toBe(1);
  });

  test('ignores malformed records', () => {
    const malformed = (text: string) => ({ content: new TextEncoder().encode(text), size: text.length, receivedAt: 0 });
    const journal = new Journal(web);
    journal.add('changes', malformed('{'));
    journal.add('mutations', malformed('[]'));
    for (const message of flip()) journal.add(topicOf(message), record(message));
    expect(journal.entries).toHaveLength(6);
  });
});
