import type { Fact } from '@sluice/messages';
import { describe, expect, test } from 'vitest';
import { anOutcome, aPlan, journalOf, pod, podChange, service, sliceOf, snapshot } from '../testing/records.ts';
import { explainPod } from './explain-pod.ts';
import { explainService } from './explain-service.ts';

type Messages = Parameters<typeof journalOf>;

const explain = (...messages: Messages) => explainPod(journalOf(...messages).state, 'web-1', 10_000);

const written = (ready: boolean): Messages => [
  aPlan(1, 1_010, [{ verb: 'create', object: sliceOf('web-1', { version: '', ready }) }]),
  anOutcome(1, 1_020, 1_000, [{ verb: 'create', version: '11' }]),
];

describe('explainPod', () => {
  test('ready in a slice', () => {
    const explained = explain(snapshot(1, 1_000, [service(), pod('web-1', {})]), ...written(true));
    expect(explained).toMatchObject({
      verdict: 'ready',
      reasons: ['its condition Ready is True since 2026-01-01T00:01:00Z'],
      placements: [{ slice: 'web-slice', ready: true, zone: 'a' }],
    });
  });

  test('not ready in a slice', () => {
    const explained = explain(snapshot(1, 1_000, [service(), pod('web-1', { ready: false })]), ...written(false));
    expect(explained.verdict).toBe('not ready');
    expect(explained.reasons[0]).toContain('Ready is not True since');
  });

  test.each([
    ['False', 'its condition Ready is False since 2026-01-01T00:01:00Z (ContainersNotReady: unready: [c])'],
    ['Unknown', 'its condition Ready is Unknown since 2026-01-01T00:01:00Z (ContainersNotReady: unready: [c])'],
  ])("not ready, with the Pod's own reason: %s", (status, reason) => {
    const unready = { status, reason: 'ContainersNotReady', message: 'unready: [c]' };
    const observed = snapshot(1, 1_000, [service(), pod('web-1', { ready: false, unready })]);
    expect(explain(observed, ...written(false)).reasons[0]).toBe(reason);
  });

  test.each<[string, Parameters<typeof pod>[1], string | null, Parameters<typeof service>[0], string]>([
    ['terminated', { terminal: true }, 'a', {}, 'has terminated'],
    ['no IP', { ip: '', ips: [] }, 'a', {}, 'no IP yet'],
    ['missing Node', {}, null, {}, 'Node node-a of the Pod does not exist'],
    ['no address of the IP family', {}, 'a', { ipFamilies: ['IPv6'] }, 'no IPv6 address'],
    ['no selector', {}, 'a', { selector: null }, 'endpoints are custom'],
    ['ExternalName', {}, 'a', { type: 'ExternalName' }, 'ExternalName'],
  ])('excluded: %s', (_, podGiven, zone, serviceGiven, reason) => {
    const explained = explain(snapshot(1, 1_000, [service(serviceGiven), pod('web-1', podGiven, zone)]));
    expect(explained).toMatchObject({ verdict: 'excluded', reasons: [expect.stringContaining(reason)] });
  });

  test('adds a reason for each port name that does not resolve', () => {
    const ports = [{ name: 'http', protocol: 'TCP', port: 80, targetPort: 'web', appProtocol: null }];
    const explained = explain(snapshot(1, 1_000, [service({ ports }), pod('web-1', {})]), ...written(true));
    expect(explained.reasons[1]).toBe('port http is omitted: no container port is named "web" with protocol TCP');
  });

  test('pending: no plan yet, a plan in flight, or a refused plan', () => {
    const observed = snapshot(1, 1_000, [service(), pod('web-1', {})]);
    const [plan, outcome] = written(true);
    expect(explain(observed)).toMatchObject({ verdict: 'pending', reasons: ['no controller has written it yet'] });
    if (plan === undefined || outcome?.kind !== 'outcome') throw new Error('no plan');
    expect(explain(observed, plan)).toMatchObject({ reasons: ['plan 1.1 is in flight to the API server'] });
    const refused = { ...outcome, status: 'rejected' as const, results: [], message: 'denied by a webhook' };
    expect(explain(observed, plan, refused).reasons).toEqual(['the API server refuses the write: denied by a webhook']);
    expect(explainService(journalOf(observed, plan, refused).state)[0]).toContain('denied by a webhook');
  });

  test('a refusal is over once the Service is deleted, although no plan succeeds then', () => {
    const observed = snapshot(1, 1_000, [service(), pod('web-1', {})]);
    const [plan, outcome] = written(true);
    if (plan === undefined || outcome?.kind !== 'outcome') throw new Error('no plan');
    const refused = { ...outcome, status: 'rejected' as const, results: [], message: 'denied by a webhook' };
    const metadata = { name: 'web', namespace: 'shop', uid: 'e', resourceVersion: '12' };
    const unrelated = podChange(2, 2_000, { kind: 'endpoints', uid: 'e', endpoints: { metadata, subsets: [] } });
    expect(journalOf(observed, plan, refused, unrelated).state.refused.size).toBe(1);
    const gone = podChange(2, 2_000, { kind: 'service', service: null });
    expect(journalOf(observed, plan, refused, gone).state.refused.size).toBe(0);
  });

  test('pending: the Pod changed after the last write', () => {
    const flipped = podChange(2, 2_000, pod('web-1', { ready: false }));
    const explained = explain(snapshot(1, 1_000, [service(), pod('web-1', {})]), ...written(true), flipped);
    expect(explained.verdict).toBe('pending');
  });

  test('unknown: no such Pod, or an incomplete history', () => {
    expect(explain(snapshot(1, 1_000, [service()])).reasons[0]).toContain('selector app=web');
    expect(explain(podChange(1, 1_000, service())).reasons[0]).toContain('incomplete until the next snapshot');
  });
});

describe('explainService', () => {
  test('returns nothing for a healthy Service', () => {
    expect(explainService(journalOf(snapshot(1, 1_000, [service(), pod('web-1', {})])).state)).toEqual([]);
  });

  test('notes what another client wrote and Sluice repaired', () => {
    const repair = {
      ...aPlan(1, 1_010, [{ verb: 'create', object: sliceOf('web-1', { version: '', ready: true }) }]),
      consecutiveRepairs: 1,
    };
    expect(explainService(journalOf(snapshot(1, 1_000, [service(), pod('web-1', {})]), repair).state)).toEqual([
      'Another client wrote web-slice. Sluice repaired it at 1970-01-01T00:00:01.010Z.',
    ]);
  });

  test.each<[string, Partial<Extract<Fact, { kind: 'slice' }>>]>([
    ['was deleted by another client', {}],
    [
      'lost its label kubernetes.io/service-name (kubectl-label)',
      { relabelled: true, labelledFor: '', manager: 'kubectl-label' },
    ],
  ])('notes which slice another client took away, not the one that replaces it: %s', (text, given) => {
    const gone: Fact = { kind: 'slice', name: 'web-slice', uid: 'slice-uid', slice: null, ...given };
    const replacement = sliceOf('web-1', { version: '', ready: true });
    const object = { ...replacement, metadata: { ...replacement.metadata, name: 'web-slice-2', uid: '' } };
    const plan = aPlan(2, 2_010, [{ verb: 'create', object }]);
    const because = (description: string) => ({
      ...plan,
      causes: { first: [{ description, observedAt: 2_000 }], more: 0 },
    });
    const notes = (repair: typeof plan) => {
      const observed = [snapshot(1, 1_000, [service(), pod('web-1', {})]), ...written(true), podChange(2, 2_000, gone)];
      return explainService(journalOf(...observed, repair).state);
    };
    const note = `EndpointSlice web-slice ${text}. Sluice repaired it at 1970-01-01T00:00:02.010Z.`;
    expect(notes({ ...plan, consecutiveRepairs: 1 })).toEqual([note]);
    expect(notes(because('EndpointSlice shop/web-slice deleted'))).toEqual([note]);
    expect(notes(because('Pod shop/web-1 became ready'))).toEqual([]);
  });

  test('notes which labels resemble a selector that matches no Pod', () => {
    const typo: Fact = {
      ...service({ selector: { app: 'crat' } }),
      similarPods: { label: 'app=cart', pods: 3 },
    } as Fact;
    expect(explainService(journalOf(snapshot(1, 1_000, [typo])).state)).toEqual([
      'No Pod matches app=crat; 3 Pods in this namespace have app=cart.',
    ]);
  });

  test('notes that no Pod matches or the Service does not exist', () => {
    expect(explainService(journalOf(snapshot(1, 1_000, [service()])).state)[0]).toContain('No Pod matches');
    expect(explainService(journalOf(snapshot(1, 1_000, [])).state)).toEqual(['The Service does not exist.']);
  });
});
