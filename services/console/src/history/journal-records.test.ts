import type { Message } from '@sluice/messages';
import { describe, expect, test } from 'vitest';
import {
  endpointsFact,
  flip,
  journalOf,
  pod,
  record,
  service,
  shop,
  sliceOf,
  snapshot,
  topicOf,
} from '../testing/records.ts';
import { Journal } from './journal.ts';

const web = shop('web');

describe('the records of a Journal', () => {
  test('change its version', () => {
    const [first, plan] = flip();
    const journal = new Journal(web, 3);
    const versions = [journal.version];
    const next = (change: () => void) => {
      change();
      versions.push(journal.version);
    };
    next(() => journal.add('changes', { ...record(first), receivedAt: 100 }));
    next(() => journal.add('mutations', { ...record(plan), receivedAt: 200 }));
    next(() => journal.dropBefore(100));
    next(() => journal.dropBefore(101));
    const [empty, one, two, same, dropped] = versions;
    expect([empty !== one, one !== two, two === same, same !== dropped]).toEqual([true, true, true, true]);
    expect([journal.partition, journal.lastReceivedAt]).toEqual([3, 200]);
  });

  test('can be dropped if they were received before a time, not those received then', () => {
    const messages = flip();
    const journal = new Journal(web);
    for (const [i, message] of messages.entries()) journal.add(topicOf(message), { ...record(message), receivedAt: i });
    journal.dropBefore(1);
    expect(journal.entries.map(({ at }) => at)).toEqual([1_010, 1_020, 5_000, 5_001, 5_004]);
    journal.dropBefore(4);
    expect(journal.entries.map(({ at }) => at)).toEqual([5_001, 5_004]);
    expect(journal.entries.at(-1)).toMatchObject({ endpoints: [{ type: 'changed', before: { ready: true } }] });
  });

  test('can be halved; of an odd number the larger half is dropped, and the last one goes as well', () => {
    const journal = journalOf(...flip().slice(0, 3));
    journal.halve();
    expect(journal.entries.map(({ kind }) => kind)).toEqual(['completed']);
    journal.halve();
    expect([journal.entries, journal.bytes]).toEqual([[], 0]);
    const { version } = journal;
    journal.halve();
    expect(journal.version).toBe(version);
  });

  test('are not needed as long as objects are left', () => {
    const isEmptyWith = (...facts: Parameters<typeof snapshot>[2]) => {
      const journal = journalOf(snapshot(1, 1_000, facts));
      const before = journal.isEmpty;
      journal.dropBefore(Number.POSITIVE_INFINITY);
      return [before, journal.isEmpty];
    };
    const slice = sliceOf('web-1', { version: '9', ready: true });
    expect(isEmptyWith()).toEqual([false, true]);
    expect(isEmptyWith(service())).toEqual([false, false]);
    expect(isEmptyWith(pod('web-1', {}))).toEqual([false, false]);
    expect(isEmptyWith({ kind: 'slice', name: 'web-slice', uid: 'slice-uid', slice })).toEqual([false, false]);
    expect(isEmptyWith(endpointsFact('9'))).toEqual([false, false]);
    const planned = journalOf(flip()[1]);
    expect(planned.isEmpty, 'a plan is a record').toBe(false);
    expect(journalOf(snapshot(1, 1_000, []), flip()[1]).isEmpty).toBe(false);
  });

  test('do not change a state that was returned before', () => {
    const [first, plan, outcome, change] = flip();
    const journal = journalOf(first, plan, outcome, change);
    const past = journal.stateAt(1_020);
    const refusal = { message: 'denied', since: 1 };
    past.refused.set('endpointslice', refusal);
    expect(journal.stateAt(1_020).refused.size).toBe(0);
    expect(past.pods.get('web-1')?.pod.ready).toBe(true);
    expect(journal.state.pods.get('web-1')?.pod.ready).toBe(false);
  });

  test('can be dropped without the loss of refusals, similar Pods and a removal', () => {
    const [first, plan, outcome] = flip();
    const refused = { ...outcome, status: 'rejected' as const, results: [], message: 'denied' };
    const similarPods = { label: 'app=cart', pods: 3 };
    const typo = { ...first, facts: [{ ...service({ selector: { app: 'crat' } }), similarPods }] } as typeof first;
    const journal = journalOf(typo, plan, refused);
    journal.dropBefore(Number.POSITIVE_INFINITY);
    expect([journal.state.similarPods, journal.state.lastEventAt]).toEqual([similarPods, 1_020]);
    expect([...journal.state.refused]).toEqual([['endpointslice', { message: 'denied', since: 1_020 }]]);
    const removed: Message = { kind: 'clusterRemoved', cluster: 'cluster-uid', epoch: 1, removedAt: 9_000 };
    journal.add('changes', record(removed));
    journal.dropBefore(Number.POSITIVE_INFINITY);
    expect([journal.state.isRemoved, journal.state.similarPods]).toEqual([true, undefined]);
  });

  test('take effect in their order, although a clock was behind', () => {
    const [first, plan, outcome] = flip();
    const journal = journalOf(first, plan, { ...outcome, completedAt: 900 });
    const slicesAt = [900, 1_009, 1_010].map((at) => journal.stateAt(at).slices.size);
    expect(slicesAt).toEqual([0, 0, 1]);
  });

  test('take effect with what comes before them, although some say nothing', () => {
    const [first, plan, outcome, change] = flip();
    const journal = journalOf(first, first, plan, outcome, outcome, change);
    expect(journal.stateAt(999).pods.size).toBe(0);
    expect(journal.stateAt(1_000).pods.size).toBe(1);
    expect(journal.stateAt(4_999).slices.size).toBe(1);
    expect(journal.stateAt(5_000).pods.get('web-1')?.pod.ready).toBe(false);
  });
});
