import { EventEmitter } from 'node:events';
import type { ServerResponse } from 'node:http';
import { VirtualClock } from '@sluice/runtime';
import { expect, test } from 'vitest';
import { History } from '../history/history.ts';
import { pod, podChange, service, shop, snapshot, toAppend } from '../testing/records.ts';
import { EventStream } from './event-stream.ts';
import { streamHistory } from './stream-history.ts';

/** A connection whose client reads or does not. */
class Connection extends EventEmitter {
  readonly written: string[] = [];
  destroyed = false;
  writableNeedDrain = false;
  writeHead() {}
  write(text: string) {
    this.written.push(text);
  }
  end() {
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
  history.add('changes', toAppend(snapshot(1, 0, [service(), pod('web-1', { ready: false })])));
  const journal = history.get(shop('web'));
  if (journal === undefined) return expect.unreachable();
  const { connection, stream } = open(clock);
  streamHistory(stream, journal, history, clock, () => true);
  expect(connection.events).toBe(1);
  connection.writableNeedDrain = true;
  for (let n = 2; n < 52; n++) {
    history.add('changes', toAppend(podChange(n, n * 200, pod('web-1', { ready: n % 2 === 0 }))));
    run(clock, n * 200);
  }
  expect(connection.events, 'no backlog').toBe(1);
  connection.writableNeedDrain = false;
  run(clock, 12_000);
  expect(connection.events).toBe(51);
  connection.end();
  history.add('changes', toAppend(podChange(99, 13_000, pod('web-1', { ready: true }))));
  run(clock, 14_000);
  expect(connection.events, 'the client has disconnected').toBe(51);
});
