import type { Delivery } from '@sluice/bus';
import { ApiError, chainWriter } from '@sluice/kubernetes';
import {
  type Causes,
  isSampled,
  noCauses,
  type Outcome,
  sampled,
  type TraceContext,
  traceContext,
  traceHeaders,
  traceIdOf,
  watcherStarted,
} from '@sluice/messages';
import { VirtualClock } from '@sluice/platform';
import { type RecordedSpan, RecordedSpans } from '@sluice/telemetry/testing';
import { beforeEach, describe, expect, test } from 'vitest';
import { aPlan, aSlice, someEndpoints } from '../testing/plans.ts';
import { apiError, forbidden, ScriptedCluster, unavailable } from '../testing/scripted-cluster.ts';
import { PlanTrace, type PlanTraceOptions } from './plan-trace.ts';

const { signal } = new AbortController();
const slowMs = 1_000;
const plan = aPlan([], { epoch: 4, number: 2 });

let clock: VirtualClock;
let cluster: ScriptedCluster;
let recorded: RecordedSpans;
let options: PlanTraceOptions;

beforeEach(() => {
  clock = new VirtualClock(10_000);
  cluster = new ScriptedCluster();
  recorded = new RecordedSpans();
  options = { tracer: recorded.tracer({ seed: 1, slowMs }), clock, partition: 3, fencingToken: 7 };
});

const traceId = '4bf92f3577b34da6a3ce929d0e0e4736';
const parentOf = (isRecorded: boolean) => traceContext(traceId, '00f067aa0ba902b7', isRecorded);

function received(parent: TraceContext | undefined): Delivery {
  return { offset: 1, id: 'the record', key: 'c/shop/web', headers: traceHeaders(parent), payload: new Uint8Array() };
}

function start(isRecorded = true): PlanTrace {
  const trace = PlanTrace.of(options, received(parentOf(isRecorded)));
  if (trace === undefined) throw new Error('the record has a trace');
  return trace;
}

function outcome(given: Partial<Outcome> = {}): Outcome {
  return {
    ...{ kind: 'outcome', key: plan.key, controller: plan.controller, plan: plan.plan, status: 'applied' },
    ...{ results: [], message: '', causes: noCauses, decidedAt: 1, completedAt: clock.now(), retries: 0 },
    ...given,
  };
}

const causedAt = (observedAt: number, description = 'Pod changed'): Causes => ({
  ...{ first: [{ description, observedAt }], more: 0 },
});

/** Sends requests while the clock advances by 5 ms for each, whether they fail or not. */
async function send(
  trace: PlanTrace,
  requests: (writer: ReturnType<typeof chainWriter>) => Promise<unknown>[],
  server?: string,
) {
  const writer = chainWriter(cluster, trace.traceRequests(server), async (request, next) => {
    clock.skipTo(clock.now() + 5);
    return next(request);
  });
  for (const request of requests(writer)) await request.catch(() => {});
}

function end(trace: PlanTrace, given: Partial<Outcome> = {}): readonly RecordedSpan[] {
  trace.ended(plan, outcome(given), 5, 'the outcome').published();
  return recorded.spans;
}

const named = (name: string) => recorded.spans.filter((span) => span.name === name);

test('a record without a trace has none', () => {
  expect(PlanTrace.of(options, received(undefined))).toBeUndefined();
});

describe('a plan of a sampled trace', () => {
  test('is a span from its receipt to its Outcome, below the span of its record', () => {
    const trace = start();
    clock.skipTo(10_030);
    const { place, published } = trace.ended(plan, outcome({ causes: causedAt(9_900) }), 5, 'the outcome');
    expect(recorded.spans).toEqual([]);
    clock.skipTo(10_040);
    published();
    const [process, publish] = recorded.spans;
    expect(process).toMatchObject({
      name: 'process mutations',
      parent: trace.parent,
      startedAt: 10_000,
      endedAt: 10_040,
    });
    expect(process?.attributes).toMatchObject({
      'k8s.cluster.uid': 'c',
      'k8s.namespace.name': 'shop',
      'k8s.service.name': 'web',
      'sluice.controller': 'endpointslice',
      'sluice.plan': '4/2',
      'sluice.fencing_token': 7,
      'messaging.operation.name': 'process',
      'messaging.destination.name': 'mutations',
      'messaging.destination.partition.id': '3',
      'messaging.message.id': 'the record',
      'messaging.consumer.group.name': 'writer',
      'sluice.status': 'applied',
      'sluice.retries': 0,
      'sluice.trigger_to_applied_ms': 130,
    });
    expect(process?.attributes).not.toHaveProperty('sluice.recorded');
    expect(process).not.toHaveProperty('error');
    expect(publish).toMatchObject({
      ...{ name: 'publish changes', parent: process?.context, context: place, startedAt: 10_030, endedAt: 10_040 },
      attributes: {
        'k8s.service.name': 'web',
        'messaging.operation.name': 'publish',
        'messaging.destination.name': 'changes',
        'messaging.destination.partition.id': '5',
        'messaging.message.id': 'the outcome',
      },
    });
    expect(new Set(recorded.spans.map(({ context }) => traceIdOf(context)))).toEqual(new Set([traceId]));
  });

  test('without a known cause has no time since it', () => {
    expect(end(start())[0]?.attributes).not.toHaveProperty('sluice.trigger_to_applied_ms');
  });

  test('that failed shows its status and message', () => {
    expect(end(start(), { status: 'rejected', message: 'no' })[0]).toMatchObject({ error: 'rejected: no' });
  });

  test('for a namespace that is terminating has not failed', () => {
    expect(end(start(), { status: 'namespaceTerminating' })[0]).not.toHaveProperty('error');
  });
});

describe('a plan of a trace that is not sampled', () => {
  const isRecorded = (given: Partial<Outcome>) => {
    const trace = start(false);
    const { place, published } = trace.ended(plan, outcome(given), 5, 'the outcome');
    published();
    expect(isSampled(place)).toBe(recorded.spans.length > 0);
    return isSampled(place);
  };

  test.each<[string, boolean, Partial<Outcome>]>([
    ['was applied at once', false, {}],
    ['was applied shortly after its cause', false, { causes: causedAt(9_001) }],
    ['was applied long after its cause', true, { causes: causedAt(9_000) }],
    ['followed from the initial list', false, { causes: causedAt(1, watcherStarted) }],
    ['was retried', true, { retries: 1 }],
    ['ended in a conflict', true, { status: 'conflict' }],
    ['was rejected', true, { status: 'rejected' }],
    ['is for a terminating namespace', false, { status: 'namespaceTerminating' }],
  ])('that %s is recorded: %s', (_, expected, given) => {
    expect(isRecorded(given)).toBe(expected);
  });

  test('is marked as recorded afterwards, in a sampled trace', () => {
    const spans = end(start(false), { retries: 1 });
    expect(spans[0]).toMatchObject({
      parent: sampled(parentOf(false)),
      attributes: { 'sluice.recorded': 'afterwards' },
    });
    expect(spans.every(({ context }) => isSampled(context))).toBe(true);
  });
});

describe('a request', () => {
  const slices = '/apis/discovery.k8s.io/v1/namespaces/{namespace}/endpointslices';

  test('of each kind is a span below that of the plan', async () => {
    const trace = start();
    cluster.objects.set('a', { metadata: { name: 'a' } });
    await send(trace, (writer) => [
      writer.create('endpointslices', aSlice('a'), signal),
      writer.update('endpoints', someEndpoints, signal),
      writer.get('endpointslices', 'shop', 'a', signal),
      writer.delete('endpointslices', 'shop', 'a', {}, signal),
    ]);
    const [process, ...requests] = end(trace).slice(0, -1);
    expect(requests.map(({ name, attributes }) => [name, attributes['http.response.status_code']])).toEqual([
      [`POST ${slices}`, 201],
      ['PUT /api/v1/namespaces/{namespace}/endpoints/{name}', 200],
      [`GET ${slices}/{name}`, 200],
      [`DELETE ${slices}/{name}`, 200],
    ]);
    for (const { parent, error, startedAt, endedAt } of requests) {
      expect([parent, error]).toEqual([process?.context, undefined]);
      expect(endedAt).toBeGreaterThanOrEqual(startedAt);
    }
    expect(requests[0]?.attributes).toEqual({
      'http.request.method': 'POST',
      'url.template': slices,
      'url.path': '/apis/discovery.k8s.io/v1/namespaces/shop/endpointslices',
      'http.response.status_code': 201,
      'sluice.object': 'endpointslices/a',
    });
    expect(requests[3]?.attributes).toMatchObject({
      'url.path': '/apis/discovery.k8s.io/v1/namespaces/shop/endpointslices/a',
    });
  });

  test.each([
    ['https://api.test', 'api.test', 443],
    ['http://api.test/', 'api.test', 80],
    ['https://10.0.0.1:6443/clusters/a/', '10.0.0.1', 6_443],
  ])('to a known server, %s, has its address', async (server, address, port) => {
    const trace = start();
    await send(trace, (writer) => [writer.update('endpoints', someEndpoints, signal)], server);
    end(trace);
    const [request] = named('PUT /api/v1/namespaces/{namespace}/endpoints/{name}');
    expect(request?.attributes).toMatchObject({
      'url.full': `${server.replace(/\/$/, '')}/api/v1/namespaces/shop/endpoints/web`,
      'server.address': address,
      'server.port': port,
    });
    expect(request?.attributes).not.toHaveProperty('url.path');
  });

  test('that is sent again counts the earlier ones for the same object', async () => {
    const trace = start();
    cluster.fails('update a', unavailable, apiError('retry', 0));
    const update = (writer: ReturnType<typeof chainWriter>, name: string) =>
      writer.update('endpointslices', aSlice(name), signal);
    for (const name of ['a', 'b', 'a', 'a']) await send(trace, (writer) => [update(writer, name)]);
    await send(trace, (writer) => [writer.create('endpointslices', aSlice('a'), signal)]);
    end(trace);
    const shown = named(`PUT ${slices}/{name}`).map(({ attributes, error }) => [
      attributes['sluice.object'],
      attributes['http.response.status_code'],
      attributes['http.request.resend_count'],
      attributes['error.type'],
      error,
    ]);
    expect(shown).toEqual([
      ['endpointslices/a', 503, undefined, '503', 'retry 503'],
      ['endpointslices/b', 200, undefined, undefined, undefined],
      ['endpointslices/a', undefined, 1, 'R0', 'retry 0'],
      ['endpointslices/a', 200, 2, undefined, undefined],
    ]);
    expect(named(`POST ${slices}`)[0]?.attributes).not.toHaveProperty('http.request.resend_count');
  });

  test('has its own times', async () => {
    const trace = start();
    await send(trace, (writer) => [writer.update('endpoints', someEndpoints, signal)]);
    clock.skipTo(20_000);
    end(trace);
    const [request] = named('PUT /api/v1/namespaces/{namespace}/endpoints/{name}');
    expect(request).toMatchObject({ startedAt: 10_000, endedAt: 10_005 });
  });

  test('that failed for an unknown reason is a failed connection', async () => {
    const trace = start();
    cluster.fails('update web', new ApiError('cut', { kind: 'retry', status: 0, reason: '' }));
    await send(trace, (writer) => [writer.update('endpoints', someEndpoints, signal)]);
    end(trace);
    const [request] = named('PUT /api/v1/namespaces/{namespace}/endpoints/{name}');
    expect(request?.attributes['error.type']).toBe('connection');
  });

  test('fails with its own error, and one that is no request is not traced', async () => {
    const trace = start();
    const writer = chainWriter(cluster, trace.traceRequests(undefined));
    cluster.fails('update web', forbidden, new TypeError('bug'));
    await expect(writer.update('endpoints', someEndpoints, signal)).rejects.toBe(forbidden);
    await expect(writer.update('endpoints', someEndpoints, signal)).rejects.toThrow('bug');
    await trace.traceRequests(undefined)({ verb: 'identity', signal }, async () => 'one' as never);
    end(trace);
    expect(recorded.spans.filter(({ name }) => / \//.test(name))).toHaveLength(1);
  });
});
