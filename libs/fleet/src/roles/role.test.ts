import { MemoryBus } from '@sluice/bus';
import { seededRandom, silentLogger, VirtualClock } from '@sluice/platform';
import { FencedError, type Leases, MemoryDeadLetters, MemoryLeases, MemoryStore, type Store } from '@sluice/store';
import { answerHealth, condition, Metrics } from '@sluice/telemetry';
import { parseScrape } from '@sluice/telemetry/testing';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { own, type Share } from './role.ts';
import { RoleHealth } from './role-health.ts';

const leaseTimes = { ttlMs: 900, heartbeatMs: 250 };
const partitions = ['0', '1'];

let clock: VirtualClock;
let bus: MemoryBus;
let memory: MemoryLeases;
let store: Store;
let metrics: Metrics;
let stop: AbortController;
let running: Promise<unknown>[];

beforeEach(() => {
  clock = new VirtualClock(Date.UTC(2026, 0, 1));
  bus = new MemoryBus({ partitions: 2 });
  memory = new MemoryLeases(clock);
  store = new MemoryStore();
  metrics = new Metrics({ clusters: new Map(), process: false });
  stop = new AbortController();
  running = [];
});

afterEach(async () => {
  stop.abort();
  await advance(10_000);
  await Promise.all(running);
});

function member(name: string, { leases = memory, work = idle }: { leases?: Leases; work?: Share['work'] } = {}) {
  const health = new RoleHealth({
    ...{ bus, store, clock, member: name, leaseTimes },
    clusters: () => [condition('cluster/c', () => true, '')],
  });
  const ports = { clock, random: seededRandom(1), logger: silentLogger };
  const options = { bus, store, leases, deadLetters: new MemoryDeadLetters(), member: name, leaseTimes, ...ports };
  const share: Share = { role: 'reconciler', group: 'reconciler', scopes: partitions, work };
  running.push(own({ ...options, metrics, health }, share, stop.signal));
  return health;
}

const idle: Share['work'] = ({ signal }) =>
  new Promise((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }));

async function advance(ms: number): Promise<void> {
  const end = clock.now() + ms;
  do await new Promise((resolve) => setImmediate(resolve));
  while (clock.step(end));
}

/** Advances the clock during the check, because an unavailable server is not awaited for long. */
async function ask(health: RoleHealth, name: 'livez' | 'readyz'): Promise<string> {
  const answer = answerHealth(name, undefined, new URLSearchParams('verbose'), health[name]());
  await advance(1_000);
  const { status, body } = await answer;
  expect(status).toBe(body.endsWith('passed\n') ? 200 : 503);
  return body.split('\n').slice(0, -2).join('\n');
}

test('members report how many partitions they hold; a member without any stands by', async () => {
  const [one, two, three] = ['a', 'b', 'c'].map((name) => member(name));
  if (!one || !two || !three) throw new Error('three are needed');
  await advance(5_000);
  const all = [await ask(one, 'readyz'), await ask(two, 'readyz'), await ask(three, 'readyz')];
  expect(all.map((text) => /leases.*/.exec(text)?.[0]).sort()).toEqual([
    'leases/reconciler ok: holds 1 of 2',
    'leases/reconciler ok: holds 1 of 2',
    'leases/reconciler ok: standby',
  ]);
  expect([one, two, three].map(({ isMember }) => isMember)).toEqual([true, true, true]);
  expect(all[0]?.replace(/: (holds|stands).*/, '')).toBe(
    '[+]ping ok\n[+]bus ok\n[+]store ok\n[+]cluster/c ok\n[+]leases/reconciler ok',
  );
});

test('an unresponsive bus or a failing store makes it not ready, with the reason, but it stays live', async () => {
  const health = member('a');
  await advance(2_000);
  bus.end = () => new Promise(() => {});
  store.setIfAbsent = () => Promise.reject(new Error('READONLY You can not write'));
  memory.heartbeat = () => Promise.reject(new Error('away'));
  await advance(600_000);
  expect(health.isMember, 'it cannot know whether it stands by').toBe(false);
  const scraped = new Metrics({ clusters: new Map(), process: false, backends: () => health.backends });
  const scrape = scraped.text();
  await advance(1_000);
  expect(await scrape).toMatch(/sluice_backend_up\{backend="bus"\} 0\nsluice_backend_up\{backend="store"\} 0\n/);
  const text = await ask(health, 'readyz');
  expect(text).toContain('[-]bus failed: no response for 2.0 s\n[-]store failed: READONLY You can not write\n');
  expect(text).toMatch(/\[-\]leases\/reconciler failed: no heartbeat for 60\d\.\d s/);
  // The previous request is still in flight.
  expect(await ask(health, 'readyz')).toContain('[-]bus failed: no response for 3.0 s');
  expect(await ask(health, 'livez')).toBe('[+]ping ok\n[+]leases/reconciler ok');
});

test('a stuck loop is not live', async () => {
  const stuck = Promise.withResolvers<never>();
  let isStuck = false;
  const leases: Leases = {
    heartbeat: (heartbeat) => (isStuck ? stuck.promise : memory.heartbeat(heartbeat)),
    leave: (...args) => memory.leave(...args),
    watch: (...args) => memory.watch(...args),
    state: (...args) => memory.state(...args),
  };
  const health = member('a', { leases });
  await advance(100_000);
  expect(await ask(health, 'livez')).toBe('[+]ping ok\n[+]leases/reconciler ok');
  isStuck = true;
  await advance(70_000);
  expect(await ask(health, 'livez')).toMatch(/\[-\]leases\/reconciler failed: stuck for \d\d s/);
  isStuck = false;
  stuck.reject(new Error('away'));
});

test('a watcher is ready when its caches are synced, or when it stands by', async () => {
  const health = member('a');
  await advance(2_000);
  const watching = health.watching('c');
  expect(await ask(health, 'readyz')).toContain('[-]caches/c failed: caches not synced');
  watching.synced();
  expect(await ask(health, 'readyz')).toContain('[+]caches/c ok');
  watching.ended();
  expect(await ask(health, 'readyz')).not.toContain('caches/c');
});

test('counts unreadable entries of its lease group', async () => {
  let unreadable: number | undefined = 2;
  const leases: Leases = {
    heartbeat: async (heartbeat) => {
      const found = unreadable;
      unreadable = undefined;
      return { ...(await memory.heartbeat(heartbeat)), ...(found !== undefined && { unreadable: found }) };
    },
    leave: (...args) => memory.leave(...args),
    watch: (...args) => memory.watch(...args),
    state: (...args) => memory.state(...args),
  };
  member('a', { leases });
  await advance(2_000);
  expect(await metrics.text()).toContain('sluice_lease_unreadable_entries_total{role="reconciler"} 2\n');
});

test('exposes held leases with their fencing token, and counts fenced operations', async () => {
  store.commit = () => Promise.reject(new FencedError('another one has it'));
  const refused: string[] = [];
  const work: Share['work'] = async (tenure, counted) => {
    const { scope, fencingToken } = tenure;
    const checkpoint = { offset: 1, id: '', streamId: '' };
    if (scope === '1') {
      await counted
        .commit({ scope, fencingToken, expectedOffset: 0, checkpoint, entries: [] })
        .catch(() => refused.push(scope));
    }
    return idle(tenure, counted);
  };
  member('a', { work });
  await advance(2_000);
  expect(refused).toEqual(['1']);
  const shown = async () => {
    const { samples } = parseScrape(await metrics.text());
    return (name: string) =>
      samples.filter((sample) => sample.name === name).map(({ labels, value }) => [labels.role, labels.scope, value]);
  };
  const now = await shown();
  expect(now('sluice_lease_held')).toEqual([
    ['reconciler', '0', 1],
    ['reconciler', '1', 1],
  ]);
  expect(now('sluice_fencing_rejections_total')).toEqual([
    ['reconciler', '0', 0],
    ['reconciler', '1', 1],
  ]);
  const epochs = now('sluice_lease_fencing_token').map(([, , epoch]) => epoch);
  expect(epochs.every((epoch) => Number(epoch) >= Date.UTC(2026, 0, 1))).toBe(true);
  stop.abort();
  await advance(1_000);
  expect((await shown())('sluice_lease_held')).toEqual([]);
});
