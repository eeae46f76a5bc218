import { describe, expect, test } from 'vitest';
import { decided, done, journalOf, pod, podChange, service, sliceOf, snapshot } from '../testing/records.ts';
import { explainPod } from './explain-pod.ts';
import { explainService } from './explain-service.ts';
import { lastChanges, lastUnready } from './last-change.ts';

type Messages = Parameters<typeof journalOf>;

const explain = (...messages: Messages) => explainPod(journalOf(...messages).state, 'web-1');

const written = (ready: boolean): Messages => [
  decided(1, 1_010, [{ verb: 'create', object: sliceOf('web-1', { version: '', ready }) }]),
  done(1, 1_020, 1_000, [{ verb: 'create', version: '11' }]),
];

describe('why a Pod is where it is', () => {
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

  test.each<[string, Parameters<typeof pod>[1], string | null, Parameters<typeof service>[0], string]>([
    ['finished', { terminal: true }, 'a', {}, 'has finished'],
    ['without IP', { ip: '', ips: [] }, 'a', {}, 'no IP yet'],
    ['Node not known', {}, null, {}, 'Node node-a is not known'],
    ['other family', {}, 'a', { ipFamilies: ['IPv6'] }, 'no IPv6 address'],
    ['no selector', {}, 'a', { selector: null }, 'endpoints are custom'],
    ['external name', {}, 'a', { type: 'ExternalName' }, 'ExternalName'],
  ])('left out: %s', (_, podGiven, zone, serviceGiven, reason) => {
    const explained = explain(snapshot(1, 1_000, [service(serviceGiven), pod('web-1', podGiven, zone)]));
    expect(explained).toMatchObject({ verdict: 'left out', reasons: [expect.stringContaining(reason)] });
  });

  test('a port name that resolves nowhere is said beside the reason', () => {
    const ports = [{ name: 'http', protocol: 'TCP', port: 80, targetPort: 'web', appProtocol: null }];
    const explained = explain(snapshot(1, 1_000, [service({ ports }), pod('web-1', {})]), ...written(true));
    expect(explained.reasons[1]).toBe('port http is left out: no container port is named "web" with protocol TCP');
  });

  test('pending: a plan is on its way, or refused, or about to be made', () => {
    const seen = snapshot(1, 1_000, [service(), pod('web-1', {})]);
    const [plan, outcome] = written(true);
    expect(explain(seen)).toMatchObject({ verdict: 'pending', reasons: ['it is about to be decided'] });
    if (plan === undefined || outcome?.kind !== 'outcome') throw new Error('no plan');
    expect(explain(seen, plan)).toMatchObject({ reasons: ['plan 1.1 is on its way to the API server'] });
    const refused = { ...outcome, status: 'rejected' as const, results: [], message: 'denied by a webhook' };
    expect(explain(seen, plan, refused).reasons).toEqual(['the API server refuses the write: denied by a webhook']);
    expect(explainService(journalOf(seen, plan, refused).state)[0]).toContain('denied by a webhook');
  });

  test('a Pod that changed after the last write is pending, not wrong', () => {
    const flipped = podChange(2, 2_000, pod('web-1', { ready: false }));
    const explained = explain(snapshot(1, 1_000, [service(), pod('web-1', {})]), ...written(true), flipped);
    expect(explained.verdict).toBe('pending');
  });

  test('a Pod that is not there', () => {
    expect(explain(snapshot(1, 1_000, [service()])).reasons[0]).toContain('selector app=web');
    expect(explain(podChange(1, 1_000, service())).reasons[0]).toContain('history begins in the middle');
  });

  test('since when, and because of what', () => {
    const { entries } = journalOf(snapshot(1, 1_000, [service(), pod('web-1', {})]), ...written(true));
    expect(lastUnready(entries).size).toBe(0);
    expect(lastChanges(entries).get('web-1')).toEqual({
      at: 1_020,
      what: 'added',
      causes: ['Pod shop/web-1 modified'],
      latencyMs: 20,
    });
  });
});

describe('what there is to say of a Service', () => {
  test('nothing where all is well, and the hints with their reason', () => {
    expect(explainService(journalOf(snapshot(1, 1_000, [service(), pod('web-1', {})])).state)).toEqual([]);
    const annotations = { 'service.kubernetes.io/topology-mode': 'Auto' };
    const [plan] = written(true);
    if (plan?.kind !== 'mutations') throw new Error('no plan');
    const event = {
      type: 'Warning' as const,
      reason: 'TopologyAwareHintsDisabled',
      message: 'Nodes only ready in one zone, addressType: IPv4',
      regarding: { kind: 'Service' as const, namespace: 'shop', name: 'web' },
    };
    const notes = explainService(
      journalOf(snapshot(1, 1_000, [service({ annotations }), pod('web-1', {})]), { ...plan, events: [event] }).state,
    );
    expect(notes).toEqual([
      'The Nodes do not tell enough for topology hints.',
      'Topology hints: Nodes only ready in one zone, addressType: IPv4.',
    ]);
  });

  test('no Pod matches; no such Service', () => {
    expect(explainService(journalOf(snapshot(1, 1_000, [service()])).state)[0]).toContain('No Pod matches');
    expect(explainService(journalOf(snapshot(1, 1_000, [])).state)).toEqual(['The Service does not exist.']);
  });
});
