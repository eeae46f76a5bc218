import { MemoryBus } from '@sluice/bus';
import { type Change, decodeRecord, type Fact, MessageRecord } from '@sluice/messages';
import { VirtualClock } from '@sluice/platform';
import { MemoryLeases, MemoryStore } from '@sluice/store';
import { describe, expect, test } from 'vitest';
import { FirstSnapshots } from './first-snapshots.ts';
import { withoutEpochs } from './without-epochs.ts';
import { withoutExpiry } from './without-expiry.ts';

const checkpoint = { offset: 0, id: '', streamId: '' };

test('without epochs, a watcher is not shown the last Change of the one before', async () => {
  const store = new MemoryStore();
  await store.claim('watcher/a', 1);
  const entries = ['lastStamp/0', 'resourceVersion/pods'].map((field) => ({ key: 'a', field, value: '1' }));
  await store.commit({ scope: 'watcher/a', fencingToken: 1, expectedOffset: 0, checkpoint, entries });
  const state = await withoutEpochs(store).claim('watcher/a', 2);
  expect(state.entries.map(({ field }) => field)).toEqual(['resourceVersion/pods']);
});

test('without expiry, leases are renewed for ever unless the store is cut off', () => {
  const leases = new MemoryLeases(new VirtualClock(0));
  const options = { group: 'g', member: 'm', ttlMs: 1, periodMs: 1, maxSilenceMs: 1 };
  const renewedAt = (isCutOff: boolean) => withoutExpiry(leases, () => isCutOff).keepAlive?.(options).renewedAt;
  expect(renewedAt(false)).toBe(Number.POSITIVE_INFINITY);
  expect(renewedAt(true)).toBe(Number.NEGATIVE_INFINITY);
});

describe('without first snapshots', () => {
  const versions = { endpoints: '1', endpointslices: '1' };
  const present: Fact = { kind: 'endpoints', endpoints: { metadata: { name: 's', namespace: 'n' } }, uid: 'u' };
  const deleted: Fact = { kind: 'endpoints', endpoints: null, uid: 'u' };

  const change = (sequence: number, initial: boolean | undefined, fact = present): MessageRecord => {
    const message: Change = {
      ...{ kind: 'change', key: { cluster: 'c', namespace: 'n', service: 's' }, stamp: { epoch: 1, sequence } },
      ...{ previousSequence: sequence - 1, facts: [fact], causes: { first: [], more: 0 } },
      ...(initial !== undefined && { snapshot: { first: true, last: true, initial, resourceVersions: versions } }),
    };
    return new MessageRecord({ key: 'c/n/s', id: `c/1/${sequence}`, headers: {} }, message);
  };

  async function marked(...batches: readonly (readonly MessageRecord[])[]): Promise<readonly boolean[]> {
    const bus = new MemoryBus({ partitions: 1 });
    const stripped = new FirstSnapshots().without(bus);
    for (const batch of batches) await stripped.append('changes', 0, batch);
    const reader = bus.read('changes', 0, checkpoint);
    const all = [];
    while (all.length < batches.flat().length)
      all.push(...(await reader.next(4)).map((record) => 'snapshot' in decodeRecord(record)));
    return all;
  }

  test('only the first one of a Service is marked', async () => {
    const repeated = change(1, true);
    expect(await marked([repeated], [repeated, change(2, true), change(3, false)])).toEqual([true, true, false, true]);
  });

  test('the next one is marked once nothing is left of the Service', async () => {
    const gone = change(2, undefined, deleted);
    expect(await marked([change(1, true), gone, change(3, true), change(4, true)])).toEqual([true, false, true, false]);
  });
});
