import { History, tapBus } from '@sluice/console';
import { FakeApiServer, FaultPlan } from '@sluice/fake-apiserver';
import { formatServiceKey } from '@sluice/messages';
import { seededRandom, VirtualClock } from '@sluice/platform';
import { advance } from '@sluice/platform/testing';
import { defaultSettings, type Settings } from '@sluice/service-state';
import { FixedLimit, type WritableCluster } from '@sluice/writer';
import { beforeEach, expect, test } from 'vitest';
import { type Fleet, startFleet } from './harness/fleet.ts';
import { nodeObject, podObject } from './harness/objects.ts';
import { RandomUser } from './harness/random-user.ts';

/** A console that reads the log of a fleet says why a write was slow. */
let clock: VirtualClock;
let server: FakeApiServer;
let faults: FaultPlan;
let history: History;
let fleet: Fleet;

beforeEach(() => {
  clock = new VirtualClock(Date.parse('2026-01-01T00:00:00Z'));
  server = new FakeApiServer({ clock, random: seededRandom(1), bookmarkIntervalMs: 0 });
  faults = new FaultPlan();
  history = new History({ clock });
});

function putPod(name: string, ready: boolean): void {
  const since = new Date(clock.now()).toISOString();
  const known = server.list('pods').items.find(({ metadata }) => metadata?.name === name)?.metadata;
  const labels = { app: name.replace(/-\d$/, '') };
  const pod = podObject({ name, labels, ips: [`10.0.0.${name.at(-1)}`], node: 'node-1', ready, since });
  server.put('pods', { ...pod, ...(known && { metadata: known }) });
}

/** A fleet that has written the slices of Services `cart` and `web`, each with Pods 1 and 2. */
async function start(settings: Partial<Settings> = {}, writable: Partial<WritableCluster> = {}): Promise<void> {
  server.create('namespaces', { metadata: { name: 'shop' } });
  server.create('nodes', nodeObject('node-1', 'zone-a'));
  for (const name of ['cart', 'web']) {
    server.create('services', {
      metadata: { name, namespace: 'shop' },
      spec: { selector: { app: name }, ports: [{ port: 80 }] },
    });
    for (const number of [1, 2]) putPod(`${name}-${number}`, true);
  }
  const controllers = new Set(['endpointslice']);
  fleet = startFleet({
    ...{ clock, server, faults, writable, seed: 2, settings: { ...defaultSettings, controllers, ...settings } },
    wrapBus: (bus) => tapBus(bus, history),
  });
  await advance(clock, 60_000);
}

/** Where the time of the writes for a Service since the start went; `fast` for those that were. */
async function writes(service = 'cart') {
  await advance(clock, 30_000);
  await fleet.stop();
  const key = { cluster: server.identity, namespace: 'shop', service };
  const entries = history.get(key)?.entries ?? [];
  if (entries.length === 0) throw new Error(`no history of ${formatServiceKey(key)}`);
  return entries.flatMap((entry) =>
    entry.kind === 'completed' && entry.causes.first.some(({ description }) => description.startsWith('Pod shop/'))
      ? [entry.spent?.map(({ where, ms }) => `${where} ${ms}`) ?? 'fast']
      : [],
  );
}

test('a fast write says nothing', async () => {
  await start();
  putPod('cart-1', false);
  expect(await writes()).toEqual(['fast']);
});

test('the batch period and the API server', async () => {
  await start({ batchPeriodMs: { endpointslice: 2_000 } });
  faults.add({ verb: 'update', resource: 'endpointslices', latencyMs: 60 });
  putPod('cart-1', false);
  await advance(clock, 500);
  putPod('cart-2', false);
  expect(await writes()).toEqual([['batch period 2000', 'API server 60']]);
});

test('a plan in flight, and the cooldown after it', async () => {
  await start();
  faults.add({ verb: 'update', resource: 'endpointslices', latencyMs: 400 });
  putPod('cart-1', false);
  await advance(clock, 100);
  putPod('cart-2', false);
  const [first, second] = await writes();
  expect(first).toEqual(['API server 400']);
  expect(second).toEqual(['plan in flight 300', 'write cooldown 75', 'API server 400']);
});

test('the queue of the writer', async () => {
  await start({}, { limit: new FixedLimit(1) });
  faults.add({ verb: 'update', resource: 'endpointslices', latencyMs: 400 });
  putPod('web-1', false);
  await advance(clock, 100);
  putPod('cart-1', false);
  expect(await writes()).toEqual([['writer queue 300', 'API server 400']]);
});

test('the retry of a failed write', async () => {
  await start();
  faults.add({ verb: 'update', resource: 'endpointslices', error: 'forbidden', times: 1 });
  putPod('cart-1', false);
  await advance(clock, 200_000);
  const [failed, retried] = await writes();
  expect(failed).toBe('fast');
  expect(retried).toEqual([expect.stringMatching(/^retry \d{5,}(\.\d+)?$/)]);
});

/** How long the watcher keeps what may be a watch echo. */
const watchEchoMs = 250;

test.each([1, 6, 12, 15, 17])('all time of random slow writes is explained: seed %d', async (seed) => {
  server.create('namespaces', { metadata: { name: 'shop' } });
  faults = new FaultPlan(
    [
      { verb: 'update', latencyMs: 120, probability: 0.5 },
      { verb: 'update', error: 'unavailable', probability: 0.3 },
      { verb: 'update', error: 'forbidden', probability: 0.1 },
    ],
    seededRandom(seed),
  );
  const settings: Settings = {
    ...{ ...defaultSettings, maxEndpointsPerSlice: 2, maxAttempts: 3, parkedRetryMs: 2_000 },
    batchPeriodMs: { endpoints: 0, endpointslice: 400, endpointslicemirroring: 300 },
    batching: { freshnessTargetMs: 900, watchers: 1_000 },
  };
  fleet = startFleet({ ...{ clock, server, faults, seed, settings }, wrapBus: (bus) => tapBus(bus, history) });
  const user = new RandomUser(server, seededRandom(seed + 1), clock);
  user.createInitialObjects();
  for (let step = 0; step < 60; step++) {
    user.step();
    await advance(clock, step % 5 === 0 ? 10_000 : 50);
  }
  await fleet.stop();
  const entries = [...history.journals].flatMap((journal) => journal.entries);
  const slow = entries.flatMap((entry) => (entry.kind === 'completed' && entry.spent !== undefined ? [entry] : []));
  for (const { spent = [], latencyMs } of slow) {
    expect(spent.reduce((sum, { ms }) => sum + ms, 0)).toBeCloseTo(latencyMs ?? 0);
    const delivery = spent.filter(({ where }) => where === 'watcher to reconciler');
    for (const { ms } of delivery) expect(ms, JSON.stringify(spent)).toBeLessThan(watchEchoMs);
  }
  expect(slow.length).toBeGreaterThan(5);
});
