import { type BusRecord, MemoryBus } from '@sluice/bus';
import { encodeMessage, formatServiceKey, type Message, partitionOf } from '@sluice/messages';
import { seededRandom, silentLogger, VirtualClock } from '@sluice/platform';
import { describe, expect, test } from 'vitest';
import { History } from '../history/history.ts';
import { anOutcome, aPlan, pod, podChange, service, shop, sliceOf, snapshot } from '../testing/records.ts';
import { summarize } from '../view/summarize.ts';
import { BusFollower } from './bus-follower.ts';
import { tapBus } from './read-logs.ts';

const clock = new VirtualClock(0);
const key = formatServiceKey(shop('web'));
const partition = partitionOf(key, 4);

const toAppend = (id: string, message: Message, headers = {}) => ({
  id,
  key,
  headers,
  payload: encodeMessage(message),
});

const changes = [
  toAppend('1', snapshot(1, 1_000, [service(), pod('web-1', {})]), { traceparent: '00-trace' }),
  toAppend('3', anOutcome(1, 1_020, 1_000, [{ verb: 'create', version: '11' }])),
];
const plan = toAppend(
  '2',
  aPlan(1, 1_010, [{ verb: 'create', object: sliceOf('web-1', { version: '', ready: true }) }]),
);

describe('ingest', () => {
  test('tapBus adds appended records to the history', async () => {
    const history = new History({ clock });
    const bus = tapBus(new MemoryBus({ partitions: 4 }), history);
    await bus.append('changes', partition, changes.slice(0, 1));
    await bus.append('mutations', partition, [plan]);
    await bus.append('changes', partition, changes.slice(1));
    const entries = history.get(shop('web'))?.entries ?? [];
    expect(entries.map(({ kind }) => kind)).toEqual(['observed', 'decided', 'completed']);
    expect(entries[0]?.traceparent).toBe('00-trace');
    await bus.close();
  });

  test('BusFollower reads the log from its oldest record, reports when it has caught up, and continues', async () => {
    const history = new History({ clock });
    const bus = new MemoryBus({ partitions: 4 });
    await bus.append('changes', partition, changes);
    await bus.append('mutations', partition, [plan]);
    const stop = new AbortController();
    const recorded: string[] = [];
    const recorder = { add: (topic: string, { id }: BusRecord) => void recorded.push(`${topic}/${id}`) };
    const follower = new BusFollower({ bus, history, recorder, clock, random: seededRandom(1), logger: silentLogger });
    expect(follower.behind).toBe(8);
    const running = follower.run(stop.signal);
    await follower.caughtUp;
    expect(history.get(shop('web'))?.entries).toHaveLength(3);
    const changed = new Promise((resolve) => history.onRecord(resolve));
    await bus.append('changes', partition, [toAppend('4', podChange(2, 2_000, pod('web-1', { ready: false })))]);
    expect(await changed).toEqual(shop('web'));
    expect(history.get(shop('web'))?.entries).toHaveLength(4);
    expect(recorded.toSorted()).toEqual(['changes/1', 'changes/3', 'changes/4', 'mutations/2']);
    stop.abort();
    await running;
    await bus.close();
  });
});

describe('a removed cluster', () => {
  const removal = (cluster: string, epoch: number) => {
    const message = { kind: 'clusterRemoved', cluster, epoch, removedAt: 9_000 } as const;
    return { ...toAppend('9', message), key: cluster };
  };
  const statusOf = (history: History, service: string) => {
    const journal = history.get(shop(service));
    if (journal === undefined) return undefined;
    const { state, entries } = journal;
    return summarize({ at: 10_000, state, entries }, 'prod').summary.status;
  };

  /** Services web and db, in partitions 0 and 1, each with a Pod. */
  function served(): History {
    const history = new History({ clock });
    for (const [index, name] of ['web', 'db'].entries()) {
      const change = { ...snapshot(1, 1_000, [service({ name }), pod(`${name}-1`, {})]), key: shop(name) };
      history.add('changes', index, { ...toAppend('1', change), key: formatServiceKey(shop(name)) });
    }
    return history;
  }

  test('its Services of that partition are deleted, their history says why, and the others stay', () => {
    const history = served();
    history.add('changes', 0, removal('cluster-uid', 1));
    expect([statusOf(history, 'web'), statusOf(history, 'db')]).toEqual(['deleted', 'empty']);
    const journal = history.get(shop('web'));
    expect(journal?.state.pods.size).toBe(0);
    expect(journal?.stateAt(8_999).pods.size).toBe(1);
    expect(journal?.entries.at(-1)).toMatchObject({ at: 9_000, observations: [{ of: 'cluster' }] });
    history.add('changes', 1, removal('cluster-uid', 1));
    expect(statusOf(history, 'db')).toBe('deleted');
  });

  test('what is published afterwards, such as after a restore from a backup, is shown', () => {
    const history = served();
    history.add('changes', 0, removal('cluster-uid', 1));
    history.add('changes', 0, toAppend('3', snapshot(2, 10_000, [service(), pod('web-2', {})])));
    expect(statusOf(history, 'web')).toBe('empty');
    expect([...(history.get(shop('web'))?.state.pods.keys() ?? [])]).toEqual(['web-2']);
  });

  test('a late removal, of an earlier watcher, of another cluster or under a foreign key changes nothing', () => {
    const history = served();
    history.add('changes', 0, removal('cluster-uid', 0));
    history.add('changes', 0, removal('other', 1));
    history.add('changes', 0, { ...removal('other', 1), key: 'cluster-uid' });
    expect(statusOf(history, 'web')).toBe('empty');
    expect(history.get(shop('web'))?.entries).toHaveLength(1);
  });

  test('expires with the retention', () => {
    const time = new VirtualClock(0);
    const history = new History({ clock: time, retentionMs: 10_000 });
    history.add('changes', 0, toAppend('1', snapshot(1, 0, [service(), pod('web-1', {})])));
    history.add('changes', 0, removal('cluster-uid', 1));
    time.step(20_000);
    history.expire();
    expect(history.get(shop('web'))).toBeUndefined();
  });
});

describe('limits of the history', () => {
  test('drops older records of the largest histories and keeps their effect', () => {
    const history = new History({ clock, maxBytes: 60_000 });
    const first = toAppend('1', snapshot(1, 1_000, [service(), pod('web-1', {})]));
    history.add('changes', 0, first);
    for (let n = 2; n < 400; n++) {
      history.add('changes', 0, toAppend(`${n}`, podChange(n, n * 1_000, pod('web-1', { ready: n % 2 === 0 }))));
    }
    expect(history.bytes).toBeLessThanOrEqual(60_000);
    const journal = history.get(shop('web'));
    expect(journal?.entries.length).toBeGreaterThan(10);
    expect(journal?.entries.at(-1)).toMatchObject({ at: 399_000 });
    expect(journal?.state.service?.name).toBe('web');
  });

  test('drops expired records, and Services of which nothing is left', () => {
    const time = new VirtualClock(0);
    const history = new History({ clock: time, retentionMs: 10_000 });
    history.add('changes', 0, toAppend('1', snapshot(1, 0, [service(), pod('web-1', {})])));
    time.step(6_000);
    history.add('changes', 0, toAppend('2', snapshot(2, 6_000, [{ kind: 'service', service: null }])));
    time.step(12_000);
    history.expire();
    expect(history.get(shop('web'))?.entries).toHaveLength(1);
    expect(history.since).toBe(2_000);
    time.step(17_000);
    history.expire();
    expect(history.get(shop('web'))).toBeUndefined();
    expect(history.bytes).toBe(0);
  });

  test('ignores records whose key is not that of a Service', () => {
    const history = new History({ clock });
    history.add('changes', 0, { ...toAppend('1', snapshot(1, 0, [])), key: 'nonsense' });
    expect([...history.journals]).toEqual([]);
  });
});
