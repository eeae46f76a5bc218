import { FakeApiServer, FakeClient, FaultPlan } from '@sluice/fake-apiserver';
import type { RawObject } from '@sluice/kubernetes';
import { seededRandom, silentLogger, VirtualClock } from '@sluice/platform';
import { advance } from '@sluice/platform/testing';
import { defaultSettings } from '@sluice/service-state';
import { type AllInOne, startAllInOne } from '@sluice/sluice';
import { Metrics } from '@sluice/telemetry';
import { parseScrape, type Scrape, sampleOf } from '@sluice/telemetry/testing';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { namespace, nodeObject, podObject } from './harness/objects.ts';

/** Metrics of the whole pipeline on fake API servers. */
let clock: VirtualClock;
let servers: FakeApiServer[];
let faults: FaultPlan;
let metrics: Metrics;
let fleet: AllInOne;

const slices = 'endpoint_slice_controller';
const mirroring = 'endpoint_slice_mirroring_controller';

beforeEach(() => {
  clock = new VirtualClock(Date.parse('2026-01-01T00:00:00Z'));
  faults = new FaultPlan();
  servers = [];
});

afterEach(() => fleet.stop(0));

async function start(clusters: number, given: { parkedRetryMs?: number | null; maxAttempts?: number } = {}) {
  for (let i = 0; i < clusters; i++) {
    const server = new FakeApiServer({ clock, random: seededRandom(i + 1) });
    server.create('namespaces', { metadata: { name: namespace } });
    server.put('nodes', nodeObject('n1', 'a'));
    servers.push(server);
  }
  const named = servers.map((server, i) => ({ server, name: `c${i}` }));
  metrics = new Metrics({
    clusters: new Map(named.map(({ server, name }) => [server.identity, name])),
    process: false,
  });
  fleet = startAllInOne({
    clusters: named.map(({ server, name }) => {
      const cluster = new FakeClient(server, { clock, faults });
      return { name, identity: server.identity, reader: cluster, writer: cluster, record: () => {} };
    }),
    settings: { ...defaultSettings, ...given },
    clock,
    random: seededRandom(2),
    logger: silentLogger,
    partitions: 3,
    metrics,
  });
  await advance(clock, 1_000);
}

const scrape = async (): Promise<Scrape> => parseScrape(await metrics.text());
const only = (): FakeApiServer => {
  const [server] = servers;
  if (server === undefined) throw new Error('no server');
  return server;
};

function service(name: string, spec: object = {}): RawObject {
  return { metadata: { name, namespace }, spec: { selector: { app: name }, ports: [{ port: 80 }], ...spec } };
}

const pod = (app: string, i: number, ips = [`10.0.0.${i}`]) =>
  podObject({
    name: `${app}-${i}`,
    labels: { app },
    ips,
    ready: true,
    node: 'n1',
    since: '2026-01-01T00:00:00Z',
    uid: `${app}-${i}`,
  });

describe('upstream metrics', () => {
  test('follow Services as they are created, changed and deleted (I1)', async () => {
    await start(1);
    const server = only();
    server.create('services', service('web'));
    server.create('services', service('dual', { ipFamilyPolicy: 'RequireDualStack', ipFamilies: ['IPv4', 'IPv6'] }));
    for (let i = 1; i <= 3; i++) server.put('pods', pod('web', i));
    server.put('pods', pod('dual', 9, ['10.0.0.9', 'fd00::9']));
    await advance(clock, 5_000);
    const full = await scrape();
    expect(sampleOf(full, `${slices}_endpoints_desired`)).toBe(5);
    expect(sampleOf(full, `${slices}_num_endpoint_slices`)).toBe(3);
    expect(sampleOf(full, `${slices}_desired_endpoint_slices`)).toBe(3);
    expect(sampleOf(full, `${slices}_changes`, { operation: 'create' })).toBe(3);
    expect(sampleOf(full, `${slices}_endpoints_added_per_sync_sum`)).toBe(5);

    server.delete('services', namespace, 'dual');
    server.delete('pods', namespace, 'web-3', { gracePeriodSeconds: 0 });
    await advance(clock, 5_000);
    const rest = await scrape();
    expect(sampleOf(rest, `${slices}_endpoints_desired`)).toBe(2);
    expect(sampleOf(rest, `${slices}_num_endpoint_slices`)).toBe(1);
    expect(sampleOf(rest, `${slices}_desired_endpoint_slices`)).toBe(1);
    expect(sampleOf(rest, `${slices}_endpoints_removed_per_sync_sum`)).toBe(1);

    const { spec, ...web } = server.get('services', namespace, 'web');
    server.update('services', { ...web, spec: { ...(spec as object), type: 'ExternalName', externalName: 'a.test' } });
    await advance(clock, 5_000);
    expect(sampleOf(await scrape(), `${slices}_num_endpoint_slices`)).toBe(0);
  });

  test('count Services by traffic distribution; an unused value stays at 0 (I2)', async () => {
    await start(1);
    const server = only();
    server.create('services', service('near', { trafficDistribution: 'PreferClose' }));
    server.create('services', service('far'));
    await advance(clock, 1_000);
    const gauge = `${slices}_services_count_by_traffic_distribution`;
    const of = async (value: string) => sampleOf(await scrape(), gauge, { traffic_distribution: value });
    expect(await of('PreferClose')).toBe(1);
    const near = server.get('services', namespace, 'near');
    server.update('services', { ...near, spec: { ...(near.spec as object), trafficDistribution: 'PreferSameNode' } });
    await advance(clock, 1_000);
    expect([await of('PreferClose'), await of('PreferSameNode')]).toEqual([0, 1]);
    expect((await scrape()).samples.filter(({ name }) => name === gauge)).toHaveLength(2);
  });

  test('count a sync once with its result, and its changes only if all were applied', async () => {
    await start(1);
    faults.add({ verb: 'create', resource: 'endpointslices', error: 'forbidden', times: 1 });
    only().create('services', service('web'));
    await advance(clock, 130_000);
    const seen = await scrape();
    expect(sampleOf(seen, `${slices}_syncs`, { result: 'error' })).toBe(1);
    expect(sampleOf(seen, `${slices}_changes`, { operation: 'create' })).toBe(1);
    const changed = `${slices}_endpointslices_changed_per_sync`;
    expect(sampleOf(seen, `${changed}_sum`, { topology: 'Disabled', traffic_distribution: '' })).toBe(1);
    const syncs = sampleOf(seen, `${slices}_syncs`, { result: 'success' });
    expect(sampleOf(seen, `${changed}_count`)).toBe(syncs);
    expect(sampleOf(seen, 'workqueue_retries_total', { name: 'endpoint_slice' })).toBe(1);
    expect(sampleOf(seen, 'sluice_plans_total', { controller: 'endpointslice', status: 'rejected' })).toBe(1);
    const refused = { verb: 'create', resource: 'endpointslices', code: '403' };
    expect(sampleOf(seen, 'sluice_write_requests_total', refused)).toBe(1);
  });

  test('count mirrored slices, but not deletions of a clean-up (I3)', async () => {
    await start(1);
    const server = only();
    server.create('services', service('custom', { selector: null }));
    const subsets = [{ addresses: [{ ip: '10.9.0.1' }, { ip: '10.9.0.2' }], ports: [{ port: 80 }] }];
    server.create('endpoints', { metadata: { name: 'custom', namespace }, subsets });
    await advance(clock, 1_000);
    const mirrored = await scrape();
    expect(sampleOf(mirrored, `${mirroring}_endpoints_desired`)).toBe(2);
    expect(sampleOf(mirrored, `${mirroring}_num_endpoint_slices`)).toBe(1);
    expect(sampleOf(mirrored, `${mirroring}_endpoints_added_per_sync_sum`)).toBe(2);
    expect(sampleOf(mirrored, `${mirroring}_changes`, { operation: 'create' })).toBe(1);
    server.delete('endpoints', namespace, 'custom');
    await advance(clock, 1_000);
    expect(server.list('endpointslices').items).toEqual([]);
    const cleaned = await scrape();
    expect(sampleOf(cleaned, `${mirroring}_num_endpoint_slices`)).toBe(0);
    expect(sampleOf(cleaned, `${mirroring}_changes`, { operation: 'delete' })).toBe(0);
  });

  test('show the waiting queue and for how long it waits (I4)', async () => {
    await start(1);
    faults.add({ verb: 'create', resource: 'endpointslices', latencyMs: 4_000, times: 1 });
    only().create('services', service('web'));
    await advance(clock, 1_000);
    only().put('pods', pod('web', 1));
    await advance(clock, 1_000);
    const name = 'endpoint_slice';
    const during = await scrape();
    expect(sampleOf(during, 'workqueue_depth', { name })).toBe(1);
    expect(sampleOf(during, 'workqueue_longest_running_processor_seconds', { name })).toBeCloseTo(2, 1);
    await advance(clock, 10_000);
    const after = await scrape();
    expect(sampleOf(after, 'workqueue_depth', { name })).toBe(0);
    expect(sampleOf(after, 'workqueue_unfinished_work_seconds', { name })).toBe(0);
    const took = sampleOf(after, 'workqueue_work_duration_seconds_sum', { name });
    expect(took).toBeGreaterThan(3.9);
  });
});

describe('metrics of several clusters', () => {
  test('have a cluster label', async () => {
    await start(2);
    const [first, second] = servers;
    first?.create('services', service('web'));
    first?.create('services', service('db'));
    second?.create('services', service('web'));
    await advance(clock, 1_000);
    const seen = await scrape();
    expect(sampleOf(seen, `${slices}_num_endpoint_slices`, { cluster: 'c0' })).toBe(2);
    expect(sampleOf(seen, `${slices}_num_endpoint_slices`, { cluster: 'c1' })).toBe(1);
    expect(sampleOf(seen, `${slices}_changes`, { cluster: 'c1', operation: 'create' })).toBe(1);
  });
});

describe('Sluice metrics', () => {
  test('count a rejected key as parked until it is applied', async () => {
    await start(1, { parkedRetryMs: 600_000 });
    faults.add({ verb: 'create', resource: 'endpointslices', error: 'forbidden', times: 1 });
    only().create('services', service('web'));
    await advance(clock, 60_000);
    const parked = async () => sampleOf(await scrape(), 'sluice_parked_services', { controller: 'endpointslice' });
    expect(await parked()).toBe(1);
    await advance(clock, 1_200_000);
    expect(await parked()).toBe(0);
  });

  test('measure the time from a change to its write, except for the initial state', async () => {
    await start(1);
    only().create('services', service('web'));
    await advance(clock, 1_000);
    const count = async () =>
      sampleOf(await scrape(), 'sluice_change_to_write_seconds_count', { controller: 'endpointslice' });
    expect(await count()).toBe(1);
    expect(sampleOf(await scrape(), 'sluice_messages_processed_total', { kind: 'change' })).toBeGreaterThan(0);
  });

  test('measure the time to the write by cause, and count the causes per plan', async () => {
    await start(2);
    const [server] = servers;
    server?.create('services', service('web'));
    await advance(clock, 1_000);
    faults.add({ verb: 'update', resource: 'endpointslices', latencyMs: 4_000, times: 1 });
    for (let i = 1; i <= 3; i++) {
      server?.put('pods', pod('web', i));
      await advance(clock, 1_000);
    }
    await advance(clock, 10_000);
    const seen = await scrape();
    const timed = (cause: string) =>
      sampleOf(seen, 'sluice_trigger_to_applied_seconds_count', { cluster: 'c0', cause });
    // Two controllers write each change.
    expect([timed('Service'), timed('Pod')]).toEqual([2, 6]);
    const together = (which: string) => sampleOf(seen, `sluice_plan_causes_${which}`, { controller: 'endpointslice' });
    expect([together('sum'), together('count')]).toEqual([4, 3]);
  });

  test('measure the idle time of a watch; bookmarks end it', async () => {
    await start(1);
    only().create('services', service('web'));
    await advance(clock, 10);
    // Bookmarks are sent every minute.
    clock.skipTo(clock.now() + 45_000);
    const age = async (resource: string) => sampleOf(await scrape(), 'sluice_watch_idle_seconds', { resource });
    expect(await age('services')).toBeCloseTo(45, 0);
    await advance(clock, 120_000);
    expect(await age('nodes')).toBeLessThan(61);
  });

  test('show the memory for the objects of a cluster, and its limit', async () => {
    await start(1);
    only().create('services', service('web'));
    await advance(clock, 1_000);
    const bytes = async (resource: string) => sampleOf(await scrape(), 'sluice_informer_cache_bytes', { resource });
    const [one, pods] = [await bytes('services'), await bytes('pods')];
    expect(one).toBeGreaterThan(100);
    expect(pods).toBe(0);
    only().create('services', service('web-2'));
    await advance(clock, 1_000);
    expect(await bytes('services')).toBeGreaterThan(one * 1.5);
    expect(sampleOf(await scrape(), 'sluice_informer_cache_limit_bytes', {})).toBeGreaterThan(64 * 1024 ** 2);
  });
});
