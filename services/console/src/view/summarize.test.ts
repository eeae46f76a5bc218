import type { Fact, Message } from '@sluice/messages';
import {
  type EndpointSlice,
  type Endpoints,
  endpointSliceController,
  endpointSliceMirroringController,
  managedByLabel,
  skipMirrorLabel,
} from '@sluice/model';
import { describe, expect, test } from 'vitest';
import { explainService } from '../explain/explain-service.ts';
import {
  anOutcome,
  aPlan,
  journalOf,
  pod,
  podChange,
  service,
  sliceFact,
  sliceOf,
  snapshot,
} from '../testing/records.ts';
import { type SummarizedMoment, summarize } from './summarize.ts';

function stateOf(...facts: Fact[]) {
  return journalOf(snapshot(1, 1_000, facts)).state;
}

const summarized = (moment: Omit<SummarizedMoment, 'at'>) => summarize({ at: 10_000, ...moment }, 'prod').summary;

const custom = (labels: Record<string, string>): Endpoints => ({
  metadata: { name: 'web', namespace: 'shop', uid: 'endpoints-uid', resourceVersion: '10', labels },
  subsets: [],
});

describe('a Service without endpoints', () => {
  test.each<[string, string, Fact[]]>([
    ['empty', 'with a selector', [service()]],
    ['unmanaged', 'of type ExternalName', [service({ type: 'ExternalName' })]],
    ['unmanaged', 'without a selector and without Endpoints', [service({ selector: null })]],
    [
      'empty',
      'without a selector and with empty custom Endpoints',
      [service({ selector: null }), { kind: 'endpoints', endpoints: custom({}), uid: 'endpoints-uid' }],
    ],
    [
      'unmanaged',
      'with the skip-mirror label on its Endpoints, such as default/kubernetes',
      [
        service({ selector: null }),
        { kind: 'endpoints', endpoints: custom({ [skipMirrorLabel]: 'true' }), uid: 'endpoints-uid' },
      ],
    ],
  ])('is %s %s', (status, _, facts) => {
    expect(summarized({ state: stateOf(...facts), entries: [] }).status).toBe(status);
  });

  test('is not described as mirrored if its Endpoints have the skip-mirror label', () => {
    const endpoints = custom({ [skipMirrorLabel]: 'true' });
    const notes = explainService(
      stateOf(service({ selector: null }), { kind: 'endpoints', endpoints, uid: 'endpoints-uid' }),
    );
    expect(notes).toEqual([expect.stringContaining('excluded from mirroring')]);
  });
});

describe('Pods that are ready but get no traffic', () => {
  const httpPort = [{ name: 'http', protocol: 'TCP', containerPort: 8080 }];
  const ports = (...targetPorts: string[]) =>
    targetPorts.map((targetPort) => ({ name: targetPort, protocol: 'TCP', port: 80, targetPort, appProtocol: null }));

  /** A Service whose Pod web-1 is ready and in a slice with these ports. */
  function summaryOf(facts: readonly Fact[], slicePorts: readonly string[]) {
    const slice = sliceOf('web-1', { version: '', ready: true });
    const object = { ...slice, ports: slicePorts.map((name) => ({ name, protocol: 'TCP', port: 8080 })) };
    const { state, entries } = journalOf(
      snapshot(1, 1_000, [...facts]),
      aPlan(1, 1_010, [{ verb: 'create', object }]),
      anOutcome(1, 1_020, 1_000, [{ verb: 'create', version: '11' }]),
    );
    return summarized({ state, entries });
  }

  test('a port that no Pod has: no endpoint is reachable', () => {
    const facts = [service({ ports: ports('htpp') }), pod('web-1', { ports: httpPort })];
    expect(summaryOf(facts, [])).toMatchObject({
      ...{ status: 'empty', endpoints: 1, ready: 0 },
      problem: 'no reachable endpoints: port htpp refers to container port "htpp", which no Pod has (available: http)',
    });
  });

  test('one of two ports that no Pod has', () => {
    const facts = [service({ ports: ports('http', 'metrics') }), pod('web-1', { ports: httpPort })];
    expect(summaryOf(facts, ['http'])).toMatchObject({
      ...{ status: 'degraded', ready: 1 },
      problem: 'port metrics refers to container port "metrics", which no Pod has (available: http)',
    });
  });

  test('a Pod whose Node does not exist', () => {
    const facts = [service(), pod('web-1', {}), pod('web-2', { nodeName: 'node-b' }, null)];
    expect(summaryOf(facts, ['http'])).toMatchObject({
      ...{ status: 'degraded', endpoints: 1, ready: 1, leftOut: 1 },
      problem: '1 ready, 1 Pod left out because Node node-b does not exist',
    });
  });

  test('a Pod whose Node does not exist hides no Pod that is not ready', () => {
    const slice = sliceOf('web-1', { version: '10', ready: false });
    const facts = [service(), pod('web-1', { ready: false }), pod('web-2', { nodeName: 'node-b' }, null)];
    const state = stateOf(...facts, { kind: 'slice', name: 'web-slice', uid: 'slice-uid', slice });
    expect(summarized({ state, entries: [] })).toMatchObject({
      ...{ status: 'empty', endpoints: 1, ready: 0 },
      problem: '0 ready, 1 not ready, 1 Pod left out because Node node-b does not exist',
    });
  });

  test('a plan without writes is no write', () => {
    const none = { ...anOutcome(2, 2_020, 2_000, []), results: [] };
    const first = snapshot(1, 1_000, [service(), pod('web-1', {})]);
    const { state, entries } = journalOf(first, aPlan(2, 2_010, []), none);
    expect(entries.map(({ kind }) => kind)).toEqual(['observed', 'decided', 'completed']);
    expect(summarized({ state, entries })).toMatchObject({ lastChangeAt: null, lastLatencyMs: null });
  });

  test('a Service without ports needs none', () => {
    const facts = [service({ ports: [], clusterIP: 'None' }), pod('web-1', {})];
    expect(summaryOf(facts, [])).toMatchObject({ status: 'ok', ready: 1, problem: '' });
  });
});

describe('the summary of a Service', () => {
  const slice = (given: Partial<EndpointSlice>): Fact => {
    const object = { ...sliceOf('web-1', { version: '9', ready: true }), ...given };
    return sliceFact(object, { name: object.metadata.name, uid: object.metadata.name });
  };
  const managedBy = (manager: string | undefined, name: string) => ({
    ...{ namespace: 'shop', uid: name, resourceVersion: '9', name },
    labels: { ...(manager !== undefined && { [managedByLabel]: manager }) },
  });

  test('counts the endpoints of slices that the controllers manage; unset means ready', () => {
    const endpoints = [{ addresses: ['10.0.0.1'] }, { addresses: ['10.0.0.2'], conditions: { ready: false } }];
    const state = stateOf(
      service(),
      slice({ endpoints, metadata: managedBy(endpointSliceController, 'a') }),
      slice({ endpoints, metadata: managedBy(endpointSliceMirroringController, 'b') }),
      slice({ endpoints: null as never, metadata: managedBy(endpointSliceController, 'c') }),
      slice({ endpoints, metadata: managedBy('linkerd', 'd') }),
      slice({ endpoints, metadata: managedBy(undefined, 'e') }),
    );
    expect(summarized({ state, entries: [] })).toMatchObject({ slices: 3, endpoints: 4, ready: 2, status: 'degraded' });
  });

  const first = snapshot(1, 1_000, [service(), pod('web-1', {})]);
  const plan = aPlan(1, 1_010, [{ verb: 'create', object: sliceOf('web-1', { version: '', ready: true }) }]);
  const outcome = anOutcome(1, 1_020, 1_000, [{ verb: 'create', version: '11' }]);
  const refused = { ...outcome, status: 'rejected' as const, results: [], message: 'denied' };
  const removed: Message = { kind: 'clusterRemoved', cluster: 'cluster-uid', epoch: 1, removedAt: 9_000 };

  test.each<[string, Message[]]>([
    ['unknown', [podChange(1, 1_000, service(), pod('web-1', {}))]],
    ['pending', [first, plan]],
    ['refused', [first, plan, refused]],
    ['refused', [first, plan, refused, aPlan(2, 2_000, [])]],
    ['ok', [first, plan, outcome]],
    ['deleted', [first, plan, outcome, podChange(2, 2_000, { kind: 'service', service: null })]],
    ['deleted', [first, plan, outcome, removed]],
    ['pending', [first, podChange(2, 2_000, { kind: 'service', service: null }), aPlan(1, 3_000, [])]],
  ])('has the status %s (%#)', (status, messages) => {
    const { state, entries } = journalOf(...messages);
    expect(summarized({ state, entries }).status).toBe(status);
  });

  test('has the time and the latency of the last write that was applied', () => {
    const last = (...messages: Message[]) => {
      const { state, entries } = journalOf(first, plan, ...messages);
      const { lastChangeAt, lastLatencyMs } = summarized({ state, entries });
      return [lastChangeAt, lastLatencyMs];
    };
    const next = (given: object) => ({ ...outcome, plan: { epoch: 1, number: 2 }, completedAt: 2_020, ...given });
    const planned = aPlan(2, 2_010, []);
    expect(last()).toEqual([null, null]);
    expect(last(outcome)).toEqual([1_020, 20]);
    expect(last(outcome, planned, next({}))).toEqual([2_020, 1_020]);
    expect(last(outcome, planned, next({ status: 'conflict' }))).toEqual([1_020, 20]);
    expect(last(outcome, planned, next({ results: [] }))).toEqual([1_020, 20]);
    expect(last({ ...outcome, causes: { first: [], more: 0 } })).toEqual([1_020, null]);
  });
});
