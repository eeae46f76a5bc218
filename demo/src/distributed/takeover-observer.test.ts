import { VirtualClock } from '@sluice/platform';
import { advance } from '@sluice/platform/testing';
import { MemoryLeases } from '@sluice/store';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { type Takeover, TakeoverObserver } from './takeover-observer.ts';

let clock: VirtualClock;
let leases: MemoryLeases;
let observer: TakeoverObserver;
let heartbeat: (member: string, acquire?: readonly string[], started?: readonly string[]) => Promise<unknown>;
const observing = { current: new AbortController(), done: Promise.resolve() };

beforeEach(async () => {
  clock = new VirtualClock(1_000);
  leases = new MemoryLeases(clock);
  heartbeat = (member, acquire = [], started = []) =>
    leases.heartbeat({ group: 'writer', member, ttlMs: 900, release: [], acquire, started });
  observer = new TakeoverObserver({ leases, groups: ['writer'], clock });
  observing.current = new AbortController();
  observing.done = observer.run(observing.current.signal);
  await heartbeat('writer-a', ['0', '1'], ['0', '1']);
  await advance(clock, 300);
});

afterEach(async () => {
  observing.current.abort();
  await observing.done;
});

test('a take-over lasts until others have started work under every lease of the dead process', async () => {
  const takeovers: Takeover[] = [];
  observer.exited(
    (holder) => holder === 'writer-a',
    (takeover) => takeovers.push(takeover),
  );
  await advance(clock, 700);
  await heartbeat('writer-b', ['0', '1'], ['0']);
  await advance(clock, 100);
  expect(takeovers).toEqual([]);
  await heartbeat('writer-b', [], ['1']);
  await advance(clock, 0);
  expect(takeovers).toEqual([{ leases: 2, holders: ['writer-b'], tookMs: 800 }]);
});

test('a process without leases needs no take-over', async () => {
  const takeovers: Takeover[] = [];
  observer.exited(
    (holder) => holder === 'writer-c',
    (takeover) => takeovers.push(takeover),
  );
  await advance(clock, 5_000);
  expect(takeovers).toEqual([]);
});
