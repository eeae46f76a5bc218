import { FakeApiServer, FakeClient, FaultPlan } from '@sluice/fake-apiserver';
import { traceIdOf } from '@sluice/messages';
import { seededRandom, VirtualClock } from '@sluice/platform';
import { advance, type RecordingLogger, recordingLogger } from '@sluice/platform/testing';
import { defaultSettings } from '@sluice/service-state';
import { type AllInOne, startAllInOne } from '@sluice/sluice';
import type { RecordedSpan } from '@sluice/telemetry/testing';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { namespace, nodeObject, podObject } from './harness/objects.ts';
import { outline, RecordedTraces } from './harness/recorded-traces.ts';

/** The spans of the whole pipeline on a fake API server. */
let clock: VirtualClock;
let server: FakeApiServer;
let faults: FaultPlan;
let traces: RecordedTraces;
let fleet: AllInOne;
let logger: RecordingLogger;

beforeEach(() => {
  clock = new VirtualClock(Date.parse('2026-01-01T00:00:00Z'));
  faults = new FaultPlan();
  logger = recordingLogger();
  server = new FakeApiServer({ clock, random: seededRandom(1) });
  server.create('namespaces', { metadata: { name: namespace } });
  server.put('nodes', nodeObject('n1', 'a'));
  server.create('services', {
    metadata: { name: 'web', namespace },
    spec: { selector: { app: 'web' }, ports: [{ port: 80 }] },
  });
});

afterEach(() => fleet.stop(0));

/** EndpointSlices only, so that each change leads to one plan with one update. Excludes the initial state. */
async function start(given: { ratio: number; slowMs?: number }): Promise<void> {
  put(0);
  traces = new RecordedTraces(given);
  const cluster = new FakeClient(server, { clock, faults });
  fleet = startAllInOne({
    clusters: [{ name: 'c', identity: server.identity, reader: cluster, writer: cluster, record: () => {} }],
    settings: { ...defaultSettings, controllers: new Set(['endpointslice']) },
    clock,
    random: seededRandom(2),
    logger,
    partitions: 3,
    tracers: traces.tracers,
  });
  await advance(clock, 1_000);
  traces.spans.length = 0;
}

const put = (i: number, ready = true) =>
  server.put(
    'pods',
    podObject({
      name: `web-${i}`,
      labels: { app: 'web' },
      ips: [`10.0.0.${i}`],
      ready,
      node: 'n1',
      since: '2026-01-01T00:00:00Z',
    }),
  );

/** Traces of Pods. Those of watch echoes end where they are applied. */
const ofPods = (): readonly (readonly RecordedSpan[])[] =>
  traces.traces.filter((spans) => spans.some(({ name }) => name === 'watch Pod'));
const named = (spans: readonly RecordedSpan[], name: string): readonly RecordedSpan[] =>
  spans.filter((span) => span.name === name);

const slices = '/apis/discovery.k8s.io/v1/namespaces/{namespace}/endpointslices';
const chain = [
  'watcher: watch Pod',
  '  watcher: publish changes',
  '    reconciler: process changes',
  '      reconciler: decide endpointslice',
  '        reconciler: publish mutations',
  '          writer: process mutations',
];

describe('a change', () => {
  test('is one trace, from the watch event to the Outcome', async () => {
    await start({ ratio: 1 });
    put(1);
    await advance(clock, 1_000);
    const [spans = [], ...others] = ofPods();
    expect(others).toEqual([]);
    expect(outline(spans)).toEqual([
      ...chain,
      `            writer: PUT ${slices}/{name}`,
      '            writer: publish changes',
      '              reconciler: process changes',
    ]);
    expect([traces.orphans, traces.repeated]).toEqual([[], []]);
    expect(named(spans, 'watch Pod')[0]?.attributes).toMatchObject({
      'k8s.cluster.uid': server.identity,
      'k8s.namespace.name': namespace,
      'k8s.service.name': 'web',
      'sluice.cause': `Pod ${namespace}/web-1 added, ready`,
    });
    expect(named(spans, 'process mutations')[0]?.attributes).toMatchObject({
      'k8s.service.name': 'web',
      'messaging.system.name': 'memory',
      'messaging.operation.type': 'process',
      'messaging.destination.name': 'mutations',
      'messaging.destination.partition.id': expect.stringMatching(/^[0-2]$/),
      'sluice.controller': 'endpointslice',
      'sluice.plan': expect.stringMatching(/^\d+\/\d+$/),
      'sluice.fencing_token': expect.any(Number),
      'sluice.status': 'applied',
    });
    expect(spans.filter(({ error }) => error !== undefined)).toEqual([]);
  });

  test('has a span for each request with its status and the reason of its retry', async () => {
    await start({ ratio: 1 });
    faults.add({ verb: 'update', resource: 'endpointslices', error: 'unavailable', times: 2 });
    put(1);
    await advance(clock, 10_000);
    const requests = named(ofPods()[0] ?? [], `PUT ${slices}/{name}`);
    const shown = requests.map(({ attributes, error }) => [
      attributes['http.request.method'],
      attributes['http.response.status_code'],
      attributes['http.request.resend_count'],
      attributes['error.type'],
      error !== undefined,
    ]);
    expect(shown).toEqual([
      ['PUT', 503, undefined, '503', true],
      ['PUT', 503, 1, '503', true],
      ['PUT', 200, 2, undefined, false],
    ]);
    expect(named(ofPods()[0] ?? [], 'process mutations')[0]?.attributes['sluice.retries']).toBe(2);
  });

  test('whose plan failed is decided again in the same trace, which shows the reason', async () => {
    await start({ ratio: 1 });
    faults.add({ verb: 'update', resource: 'endpointslices', error: 'forbidden', times: 1 });
    put(1);
    // A rejected plan is retried after one or two minutes.
    await advance(clock, 150_000);
    const [spans = []] = ofPods();
    const plans = named(spans, 'process mutations');
    expect(plans.map(({ attributes }) => attributes['sluice.status'])).toEqual(['rejected', 'applied']);
    expect(plans[0]?.error).toMatch(/^rejected: .*forbidden/i);
    const { trace_id } = logger.lines.find(({ message }) => message === 'plan not applied')?.fields ?? {};
    expect(trace_id).toBe(traceIdOf(spans[0]?.context ?? ''));
    expect([traces.orphans, traces.repeated]).toEqual([[], []]);
  });
});

test('coalesced changes link to the write that contains them', async () => {
  await start({ ratio: 1 });
  faults.add({ verb: 'update', resource: 'endpointslices', latencyMs: 5_000, times: 1 });
  put(1);
  await advance(clock, 1_000);
  // During this write, the next changes gather: one in a Change of its own, then two in one Change.
  put(2);
  await advance(clock, 1_000);
  put(3);
  put(4);
  await advance(clock, 10_000);
  const all = ofPods();
  expect(all).toHaveLength(4);
  const carrier = all.filter((spans) => named(spans, 'process mutations').length > 0)[1] ?? [];
  const decision = named(carrier, 'decide endpointslice')[0];
  expect(decision?.links).toHaveLength(1);
  expect(traces.span(decision?.links?.[0] ?? '')?.name).toBe('process changes');
  // web-3 was decided with web-2, web-4 was published with web-3.
  const follower = all.find((spans) => named(spans, 'decide endpointslice')[0]?.attributes['sluice.coalesced']) ?? [];
  expect(named(follower, 'decide endpointslice')[0]?.links).toEqual([decision?.context]);
  const last = all.find((spans) => spans.length === 1)?.[0];
  expect(last?.attributes['sluice.coalesced']).toBe(true);
  const carriedBy = traces.span(last?.links?.[0] ?? '');
  expect(carriedBy).toBe(named(follower, 'publish changes')[0]);
  expect(carriedBy?.links).toEqual([last?.context]);
  expect([traces.orphans, traces.repeated]).toEqual([[], []]);
});

describe('unsampled traces', () => {
  test('are not recorded if everything succeeds', async () => {
    await start({ ratio: 0 });
    put(1);
    await advance(clock, 10_000);
    expect(traces.spans).toEqual([]);
  });

  const recordedAfterwards = [
    'reconciler: watch Pod',
    '  reconciler: decide endpointslice',
    '    reconciler: publish mutations',
    '      writer: process mutations',
  ];

  test('are recorded after a failure, with all that follows', async () => {
    await start({ ratio: 0 });
    faults.add({ verb: 'update', resource: 'endpointslices', error: 'forbidden', times: 1 });
    put(1);
    // A rejected plan is retried after one or two minutes.
    await advance(clock, 150_000);
    const [spans = [], ...others] = traces.traces;
    expect(others).toEqual([]);
    expect(outline(spans).slice(0, 7)).toEqual([
      ...recordedAfterwards,
      `        writer: PUT ${slices}/{name}`,
      '        writer: publish changes',
      '          reconciler: process changes',
    ]);
    const plans = named(spans, 'process mutations').map(({ attributes }) => attributes['sluice.status']);
    expect(plans).toEqual(['rejected', 'applied']);
    expect([traces.orphans, traces.repeated]).toEqual([[], []]);
  });

  test('are recorded after a retry or if they take long', async () => {
    await start({ ratio: 0, slowMs: 2_000 });
    faults.add({ verb: 'update', resource: 'endpointslices', error: 'unavailable', times: 1 });
    put(1);
    await advance(clock, 1_900);
    expect(outline(traces.traces[0] ?? []).slice(0, 4)).toEqual(recordedAfterwards);
    faults.add({ verb: 'update', resource: 'endpointslices', latencyMs: 3_000, times: 1 });
    put(2);
    await advance(clock, 10_000);
    expect(traces.traces).toHaveLength(2);
    const slow = traces.traces[1] ?? [];
    expect(outline(slow).slice(0, 4)).toEqual(recordedAfterwards);
    const watch = named(slow, 'watch Pod')[0];
    expect(watch?.attributes).toMatchObject({
      'sluice.recorded': 'afterwards',
      'sluice.cause': `Pod ${namespace}/web-2 added, ready`,
    });
    expect([traces.orphans, traces.repeated]).toEqual([[], []]);
  });
});
