import { MemoryBus } from '@sluice/bus';
import { encodeMessage, formatServiceKey, type Message, partitionOf } from '@sluice/messages';
import { seededRandom, silentLogger, VirtualClock } from '@sluice/runtime';
import { describe, expect, test } from 'vitest';
import { History } from '../history/history.ts';
import { anOutcome, aPlan, pod, podChange, service, shop, sliceOf, snapshot } from '../testing/records.ts';
import { BusFollower } from './bus-follower.ts';
import { tapBus } from './tap-bus.ts';

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
    const follower = new BusFollower({ bus, history, clock, random: seededRandom(1), logger: silentLogger });
    expect(follower.behind).toBe(8);
    const running = follower.run(stop.signal);
    await follower.caughtUp;
    expect(history.get(shop('web'))?.entries).toHaveLength(3);
    const changed = new Promise((resolve) => history.onRecord(resolve));
    await bus.append('changes', partition, [toAppend('4', podChange(2, 2_000, pod('web-1', { ready: false })))]);
    expect(await changed).toEqual(shop('web'));
    expect(history.get(shop('web'))?.entries).toHaveLength(4);
    stop.abort();
    await running;
    await bus.close();
  });
});

describe('limits of the history', () => {
  test('drops older records of the largest histories and keeps their effect', () => {
    const history = new History({ clock, maxBytes: 60_000 });
    const first = toAppend('1', snapshot(1, 1_000, [service(), pod('web-1', {})]));
    history.add('changes', first);
    for (let n = 2; n < 400; n++) {
      history.add('changes', toAppend(`${n}`, podChange(n, n * 1_000, pod('web-1', { ready: n % 2 === 0 }))));
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
    history.add('changes', toAppend('1', snapshot(1, 0, [service(), pod('web-1', {})])));
    time.step(6_000);
    history.add('changes', toAppend('2', snapshot(2, 6_000, [{ kind: 'service', service: null }])));
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
    history.add('changes', { ...toAppend('1', snapshot(1, 0, [])), key: 'nonsense' });
    expect([...history.journals]).toEqual([]);
  });
});
