import { EventEmitter } from 'node:events';
import type { ServerResponse } from 'node:http';
import { VirtualClock } from '@sluice/platform';
import { expect, test } from 'vitest';
import { History } from '../history/history.ts';
import { pod, podChange, service, shop, snapshot, toAppend } from '../testing/records.ts';
import { ThreadBudget } from '../thread-budget.ts';
import { EventStream } from './event-stream.ts';
import { streamHistory } from './stream-history.ts';

/** A connection whose client reads or does not. */
class Connection extends EventEmitter {
  readonly written: string[] = [];
  destroyed = false;
  writableNeedDrain = false;
  writeHead(..._head: unknown[]) {}
  write(text: string) {
    this.written.push(text);
  }
  end() {
    this.emit('close');
  }
  destroy() {
    this.destroyed = true;
    this.emit('close');
  }
  get events(): number {
    return this.written.filter((text) => text.startsWith('event:')).length;
  }
}

const run = (clock: VirtualClock, until: number): void => {
  while (clock.step(until));
};

const open = (clock: VirtualClock, connection = new Connection()) => {
  return { connection, stream: new EventStream(connection as unknown as ServerResponse, {}, clock) };
};

test('sends heartbeats until it is closed', () => {
  const clock = new VirtualClock(0);
  const { connection } = open(clock);
  run(clock, 45_000);
  expect(connection.written.filter((text) => text.startsWith(':'))).toHaveLength(3);
  connection.end();
  run(clock, 100_000);
  expect(connection.written.filter((text) => text.startsWith(':'))).toHaveLength(3);
});

test('disconnects a client that has read nothing for a minute', () => {
  const clock = new VirtualClock(0);
  const { connection } = open(clock);
  connection.writableNeedDrain = true;
  run(clock, 45_000);
  expect(connection.destroyed).toBe(false);
  connection.writableNeedDrain = false;
  run(clock, 60_000);
  connection.writableNeedDrain = true;
  run(clock, 119_999);
  expect(connection.destroyed, 'counted from the last time it read').toBe(false);
  run(clock, 120_000);
  expect(connection.destroyed).toBe(true);
  expect(clock.nextAt()).toBeUndefined();
});

test('encodes an event once for all streams', () => {
  const clock = new VirtualClock(0);
  const streams = [open(clock), open(clock)];
  let encoded = 0;
  const data = { toJSON: () => ++encoded };
  for (const { stream } of streams) stream.send('update', data);
  expect(encoded).toBe(1);
  for (const { connection } of streams) expect(connection.written.at(-1)).toBe('event: update\ndata: 1\n\n');
});

test('sends a long history as fast as its client reads', () => {
  const clock = new VirtualClock(0);
  const history = new History({ clock });
  history.add('changes', 0, toAppend(snapshot(1, 0, [service(), pod('web-1', { ready: false })])));
  for (let n = 2; n < 1202; n++)
    history.add('changes', 0, toAppend(podChange(n, n, pod('web-1', { ready: n % 2 === 0 }))));
  const journal = history.get(shop('web'));
  if (journal === undefined) return expect.unreachable();
  const { connection, stream } = open(clock);
  connection.write = function (text: string) {
    this.written.push(text);
    this.writableNeedDrain = this.events % 100 === 0 && this.events > 0;
  };
  streamHistory(stream, journal, { history, clock, budget: new ThreadBudget(clock, 1) }, () => true);
  expect(connection.events, 'until its buffer is full').toBe(100);
  for (let batch = 1; batch <= 13; batch++) {
    connection.writableNeedDrain = false;
    run(clock, batch * 100);
  }
  expect(connection.events).toBe(journal.entries.length);
});

test('does not start for a client that has already disconnected', () => {
  const clock = new VirtualClock(0);
  const connection = new Connection();
  connection.destroyed = true;
  const { stream } = open(clock, connection);
  let ended = 0;
  stream.onEnd(() => ended++);
  expect(ended).toBe(1);
  expect(clock.nextAt()).toBeUndefined();
});

test('pauses for a slow client and then sends all entries', () => {
  const clock = new VirtualClock(0);
  const history = new History({ clock });
  history.add('changes', 0, toAppend(snapshot(1, 0, [service(), pod('web-1', { ready: false })])));
  const journal = history.get(shop('web'));
  if (journal === undefined) return expect.unreachable();
  const { connection, stream } = open(clock);
  streamHistory(stream, journal, { history, clock, budget: new ThreadBudget(clock, 1) }, () => true);
  expect(connection.events).toBe(1);
  connection.writableNeedDrain = true;
  for (let n = 2; n < 52; n++) {
    history.add('changes', 0, toAppend(podChange(n, n * 200, pod('web-1', { ready: n % 2 === 0 }))));
    run(clock, n * 200);
  }
  expect(connection.events, 'no backlog').toBe(1);
  connection.writableNeedDrain = false;
  run(clock, 12_000);
  expect(connection.events).toBe(51);
  connection.end();
  history.add('changes', 0, toAppend(podChange(99, 13_000, pod('web-1', { ready: true }))));
  run(clock, 14_000);
  expect(connection.events, 'the client has disconnected').toBe(51);
});

/** A history of shop/web with this many entries, and its stream. */
function streamed(
  entries: number,
  { retentionMs, wanted = () => true }: { retentionMs?: number; wanted?: () => boolean } = {},
) {
  const clock = new VirtualClock(0);
  const history = new History({ clock, ...(retentionMs !== undefined && { retentionMs }) });
  history.add('changes', 0, toAppend(snapshot(1, 0, entries === 0 ? [] : [service()])));
  for (let n = 2; n <= entries; n++)
    history.add('changes', 0, toAppend(podChange(n, n, pod('web-1', { ready: n % 2 === 0 }))));
  const journal = history.get(shop('web'));
  if (journal === undefined) return expect.unreachable();
  const { connection, stream } = open(clock);
  streamHistory(stream, journal, { history, clock, budget: new ThreadBudget(clock, 1) }, wanted);
  return { clock, history, connection, stream };
}

test('a client that reads at once gets 500 entries of a long history at a time', () => {
  const { clock, connection } = streamed(1_100);
  expect(connection.events).toBe(500);
  run(clock, 99);
  expect(connection.events).toBe(500);
  run(clock, 100);
  expect(connection.events).toBe(1_000);
  run(clock, 200);
  expect(connection.events).toBe(1_100);
});

test('only wanted entries are sent, of this Service only', () => {
  const { clock, history, connection } = streamed(3, { wanted: () => false });
  expect(connection.events).toBe(0);
  const other = { ...snapshot(1, 0, [service({ name: 'db' })]), key: shop('db') };
  history.add('changes', 0, { ...toAppend(other), key: 'cluster-uid/shop/db' });
  expect(clock.nextAt(), 'only the heartbeat').toBe(15_000);
});

test('a stream ends when the history of its Service has expired', () => {
  const { clock, history, stream } = streamed(0, { retentionMs: 1_000 });
  let ended = 0;
  stream.onEnd(() => ended++);
  run(clock, 2_000);
  history.expire();
  history.add('changes', 0, toAppend(snapshot(2, 2_000, [service()])));
  expect(ended).toBe(0);
  run(clock, 2_100);
  expect(ended).toBe(1);
  expect(clock.nextAt()).toBeUndefined();
});

test('a stream of events has the headers of its console and is not stored', () => {
  const connection = new Connection();
  const written: unknown[] = [];
  connection.writeHead = (...head: unknown[]) => void written.push(...head);
  new EventStream(connection as unknown as ServerResponse, { 'X-Test': '1' }, new VirtualClock(0));
  expect(written).toEqual([200, { 'X-Test': '1', 'Content-Type': 'text/event-stream', 'Cache-Control': 'no-store' }]);
  expect(connection.written).toEqual(['retry: 2000\n\n']);
});

test('the same data under another name is another event', () => {
  const { connection, stream } = open(new VirtualClock(0));
  const data = { at: 1 };
  for (const event of ['entry', 'update']) stream.send(event, data);
  expect(connection.written.slice(1)).toEqual([
    'event: entry\ndata: {"at":1}\n\n',
    'event: update\ndata: {"at":1}\n\n',
  ]);
});
