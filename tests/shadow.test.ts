import { ClusterSimulator } from '@sluice/demo';
import { FakeApiServer, FakeClient, FaultPlan } from '@sluice/fake-apiserver';
import type { RawObject } from '@sluice/kubernetes';
import { seededRandom, silentLogger, VirtualClock } from '@sluice/platform';
import { advance } from '@sluice/platform/testing';
import { defaultSettings } from '@sluice/service-state';
import { type JsonObject, objectAt, type ReportedDifference, textAt } from '@sluice/shadow';
import { type Shadow, startShadow } from '@sluice/sluice';
import { Metrics } from '@sluice/telemetry';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { type Fleet, startFleet } from './harness/fleet.ts';
import { nodeObject, podObject } from './harness/objects.ts';

/** A writing fleet of Sluice acts as the upstream controllers. */
let clock: VirtualClock;
let server: FakeApiServer;
let upstream: Fleet | undefined;
let shadow: Shadow | undefined;
let metrics: Metrics;
let found: ReportedDifference[];
let resolved: ReportedDifference[];

const gracePeriodMs = 10_000;

beforeEach(() => {
  clock = new VirtualClock(Date.parse('2026-01-01T00:00:00Z'));
  server = new FakeApiServer({ clock, random: seededRandom(1) });
  metrics = new Metrics({ clusters: new Map([[server.identity, 'sim']]), process: false });
  [found, resolved] = [[], []];
});

afterEach(async () => {
  await shadow?.stop();
  await upstream?.stop();
  [shadow, upstream] = [undefined, undefined];
});

const pass = (ms: number) => advance(clock, ms);

async function startInShadow(): Promise<Shadow> {
  const cluster = new FakeClient(server, { clock });
  const list = (resource: 'services' | 'endpoints' | 'endpointslices') =>
    server.list(resource).items as unknown as readonly JsonObject[];
  shadow = startShadow({
    ...{ clock, random: seededRandom(3), logger: silentLogger, metrics, settings: defaultSettings, gracePeriodMs },
    clusters: [
      {
        ...{ name: 'sim', identity: server.identity, server: 'http://sim', version: 'v1.36.3', minor: 36 },
        reader: cluster,
        existing: async ({ namespace, service }) => {
          const named = ({ metadata }: JsonObject) =>
            textAt(metadata, 'namespace') === namespace && textAt(metadata, 'name') === service;
          const ofService = ({ metadata }: JsonObject) =>
            textAt(metadata, 'namespace') === namespace &&
            textAt(objectAt(metadata, 'labels'), 'kubernetes.io/service-name') === service;
          return {
            ...{ services: list('services').filter(named), pods: [] },
            ...{ endpoints: list('endpoints').filter(named), endpointslices: list('endpointslices').filter(ofService) },
          };
        },
      },
    ],
    onDifference: (difference) => found.push(difference),
    onResolved: (difference) => resolved.push(difference),
  });
  await pass(2_000);
  return shadow;
}

function startUpstream(faults = new FaultPlan()): void {
  upstream = startFleet({ server, clock, seed: 2, faults });
}

function createWeb(): void {
  server.create('namespaces', { metadata: { name: 'shop' } });
  server.put('nodes', nodeObject('n1', 'a'));
  server.create('services', {
    metadata: { name: 'web', namespace: 'shop' },
    spec: { selector: { app: 'web' }, ports: [{ port: 80, targetPort: 8080 }] },
  });
  server.put('pods', pod(true));
}

const pod = (ready: boolean): RawObject =>
  podObject({
    ...{ name: 'web-1', labels: { app: 'web' }, ips: ['10.1.0.1'], ready, node: 'n1' },
    since: '2026-01-01T00:00:00Z',
  });

const slices = () => server.list('endpointslices').items as unknown as readonly JsonObject[];

describe('beside working controllers', () => {
  test.each([1, 2, 3])('Sluice agrees on every Service of the converged simulated cluster (seed %i)', async (seed) => {
    startUpstream();
    const world = new ClusterSimulator({ api: server, clock, random: seededRandom(seed), rate: 5 });
    world.start();
    const running = await startInShadow();
    await pass(15_000);
    world.stop();
    await pass(20_000);
    const { services, differences, sooner, writes } = running.report();
    expect(differences, `seed ${seed}`).toEqual([]);
    expect(services.total, `seed ${seed}`).toBeGreaterThan(3);
    expect(services).toMatchObject({ agree: services.total, waiting: 0, unexplained: 0 });
    expect(writes).toBeGreaterThan(10);
    expect(sooner).not.toBeNull();
  });

  test('reports its lead', async () => {
    createWeb();
    startUpstream(new FaultPlan([{ verb: 'update', latencyMs: 250 }]));
    await pass(1_000);
    const running = await startInShadow();
    server.put('pods', pod(false));
    await pass(2_000);
    expect(running.report().sooner).toMatchObject({ count: 2, p50: 250, max: 250 });
    expect(await metrics.text()).toMatch(/sluice_shadow_lead_seconds_count\{controller="endpointslice"\} 1/);
  });

  test('reports a difference beyond the grace period, and its resolution', async () => {
    createWeb();
    startUpstream(new FaultPlan([{ verb: 'update', latencyMs: 20_000 }]));
    await pass(1_000);
    const running = await startInShadow();
    server.put('pods', pod(false));
    await pass(15_000);
    expect(found.map(({ resource }) => resource).sort()).toEqual(['endpoints', 'endpointslices']);
    expect(running.report().services).toMatchObject({ agree: 0, unexplained: 1 });
    await pass(15_000);
    expect(resolved).toHaveLength(2);
    expect(running.report()).toMatchObject({
      services: { agree: 1, unexplained: 0 },
      lasting: { unexplained: 2, resolved: 2 },
      differences: [],
    });
  });
});

describe('beside controllers that write incorrect objects', () => {
  test('reports the difference and writes nothing', async () => {
    createWeb();
    startUpstream();
    await pass(1_000);
    await upstream?.stop();
    upstream = undefined;
    const running = await startInShadow();
    const [slice] = slices();
    if (slice === undefined) throw new Error('no slice');
    server.update('endpointslices', { ...slice, endpoints: [] } as unknown as RawObject);
    const before = server.resourceVersion;
    await pass(20_000);
    expect(server.resourceVersion).toBe(before);
    expect(found).toMatchObject([
      {
        ...{ cluster: 'sim', namespace: 'shop', service: 'web', resource: 'endpointslices', explanation: null },
        lines: [expect.stringMatching(/endpoints.*absent ≠ .*10\.1\.0\.1/)],
      },
    ]);
    expect(running.report().services).toEqual({ total: 1, agree: 0, waiting: 0, explained: 0, unexplained: 1 });
    expect(await metrics.text()).toMatch(/sluice_shadow_services\{result="unexplained"\} 1/);
  });

  test('explains a known omission of upstream: an edit of Endpoints (D3)', async () => {
    createWeb();
    startUpstream();
    await pass(1_000);
    await upstream?.stop();
    upstream = undefined;
    await startInShadow();
    const endpoints = server.get('endpoints', 'shop', 'web') as unknown as JsonObject;
    server.update('endpoints', { ...endpoints, subsets: [] } as unknown as RawObject);
    await pass(20_000);
    expect(found).toMatchObject([{ resource: 'endpoints', explanation: { rules: expect.stringContaining('D3') } }]);
  });
});
