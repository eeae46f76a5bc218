import { type Endpoints, skipMirrorLabel } from '@sluice/controllers';
import type { Fact } from '@sluice/messages';
import { describe, expect, test } from 'vitest';
import { explainService } from '../explain/explain-service.ts';
import { anOutcome, aPlan, journalOf, pod, service, sliceOf, snapshot } from '../testing/records.ts';
import { summarize } from './summarize.ts';

function stateOf(...facts: Fact[]) {
  return journalOf(snapshot(1, 1_000, facts)).state;
}

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
    expect(summarize(stateOf(...facts), [], 'prod').status).toBe(status);
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
    return summarize(state, entries, 'prod');
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
      ...{ status: 'degraded', endpoints: 1, ready: 1 },
      problem: '1 ready, 1 Pod left out because Node node-b does not exist',
    });
  });

  test('a Pod whose Node does not exist hides no Pod that is not ready', () => {
    const slice = sliceOf('web-1', { version: '10', ready: false });
    const facts = [service(), pod('web-1', { ready: false }), pod('web-2', { nodeName: 'node-b' }, null)];
    const state = stateOf(...facts, { kind: 'slice', name: 'web-slice', uid: 'slice-uid', slice });
    expect(summarize(state, [], 'prod')).toMatchObject({
      ...{ status: 'empty', endpoints: 1, ready: 0 },
      problem: '0 ready, 1 not ready, 1 Pod left out because Node node-b does not exist',
    });
  });

  test('a plan without writes is no write', () => {
    const none = { ...anOutcome(2, 2_020, 2_000, []), results: [] };
    const first = snapshot(1, 1_000, [service(), pod('web-1', {})]);
    const { state, entries } = journalOf(first, aPlan(2, 2_010, []), none);
    expect(entries.map(({ kind }) => kind)).toEqual(['observed', 'decided', 'completed']);
    expect(summarize(state, entries, 'prod')).toMatchObject({ lastChangeAt: null, lastLatencyMs: null });
  });

  test('a Service without ports needs none', () => {
    const facts = [service({ ports: [], clusterIP: 'None' }), pod('web-1', {})];
    expect(summaryOf(facts, [])).toMatchObject({ status: 'ok', ready: 1, problem: '' });
  });
});
