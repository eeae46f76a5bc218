import { type LogFields, type Logger, seededRandom, silentLogger, VirtualClock } from '@sluice/platform';
import { advance } from '@sluice/platform/testing';
import { type KeepAlive, type Leases, MemoryLeases } from '@sluice/store';
import { beforeEach, expect, test } from 'vitest';
import { Ownership } from './ownership.ts';

let clock: VirtualClock;
let ready: PromiseWithResolvers<void>;
let held: string[];
let warnings: [string, LogFields][];
let stop: AbortController;
let running: Promise<void>;

beforeEach(() => {
  clock = new VirtualClock(Date.UTC(2026, 0, 1));
  ready = Promise.withResolvers();
  [held, warnings, stop] = [[], [], new AbortController()];
  const store = new MemoryLeases(clock);
  const keepAlive = (): KeepAlive => ({
    ready: ready.promise,
    renewedAt: Number.NEGATIVE_INFINITY,
    hold() {},
    alive() {},
    stop() {},
  });
  const leases: Leases = {
    heartbeat: (heartbeat) => store.heartbeat(heartbeat),
    leave: (group, member) => store.leave(group, member),
    state: (group) => store.state(group),
    watch: (group, onChange) => store.watch(group, onChange),
    keepAlive,
  };
  const logger: Logger = {
    ...silentLogger,
    warn: (message, fields = {}) => void warnings.push([message, fields]),
  };
  const options = { group: 'writer', member: 'a', scopes: ['0', '1'], ttlMs: 900, heartbeatMs: 250 };
  const ownership = new Ownership({
    ...{ ...options, leases, clock, logger, random: seededRandom(1) },
    async work({ scope, signal }) {
      held.push(scope);
      if (!signal.aborted) await new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }));
    },
  });
  running = ownership.run(stop.signal);
});

test('a member acquires leases once another thread can renew them, because a process has its longest pauses while it starts', async () => {
  await advance(clock, 4_000);
  expect(held).toEqual([]);
  ready.resolve();
  await advance(clock, 0);
  expect(held).toEqual(['0', '1']);
  expect(warnings).toEqual([]);
  await advance(clock, 10_000);
  expect(warnings).toEqual([]);
});

test('a member whose thread does not start works without it, and says so', async () => {
  await advance(clock, 5_000);
  expect(held).toEqual(['0', '1']);
  expect(warnings).toEqual([
    ['lease thread not ready; leases may expire while the event loop is busy', { group: 'writer', waited: '5000ms' }],
  ]);
});

test('a member that stops before its thread is ready acquires nothing and does not wait', async () => {
  stop.abort();
  await running;
  expect(held).toEqual([]);
  expect(warnings).toEqual([]);
});
