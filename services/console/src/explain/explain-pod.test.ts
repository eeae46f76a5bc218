import type { Fact } from '@sluice/messages';
import type { Endpoint, EndpointConditions, Pod, Service } from '@sluice/model';
import { httpPort } from '@sluice/model/testing';
import { describe, expect, test } from 'vitest';
import { journalOf, pod, podChange, service, sliceFact, sliceOf, snapshot } from '../testing/records.ts';
import { explainPod } from './explain-pod.ts';

const explain = (...facts: Fact[]) => explainPod(journalOf(snapshot(1, 1_000, facts)).state, 'web-1', 2_000);

/** The slice with the Pod as it is written now. */
function written(conditions: EndpointConditions, given: Partial<Endpoint> = {}): Fact {
  const slice = sliceOf('web-1', { version: '9', ready: true });
  const endpoints = (slice.endpoints ?? []).map((endpoint) => ({ ...endpoint, conditions, ...given }));
  return sliceFact({ ...slice, endpoints });
}
const ready = { ready: true, serving: true, terminating: false };
const notReady = { ready: false, serving: false, terminating: false };

describe('a Pod in a slice: why its endpoint is as it is', () => {
  const unready = { status: 'False', reason: 'ContainersNotReady', message: '' };

  test.each<[string, string, Partial<Pod>, Partial<Service>, EndpointConditions]>([
    ['ready', 'its condition Ready is True since 2026-01-01T00:01:00Z', {}, {}, ready],
    ['ready', 'its condition Ready is True', { readyTransitionTime: null }, {}, ready],
    [
      'not ready',
      'its condition Ready is not True since 2026-01-01T00:01:00Z',
      { ready: false },
      {},
      { ready: false, serving: false, terminating: false },
    ],
    [
      'not ready',
      'its condition Ready is False (ContainersNotReady)',
      { ready: false, readyTransitionTime: null, unready },
      {},
      notReady,
    ],
    ['not ready', 'it has no condition Ready yet', { ready: false, readyTransitionTime: null }, {}, notReady],
    [
      'ready',
      'it has no condition Ready yet, but the Service publishes not-ready addresses',
      { ready: false, readyTransitionTime: null },
      { publishNotReadyAddresses: true },
      { ...notReady, ready: true },
    ],
    [
      'terminating',
      'the Pod is being deleted but still serves; proxies use it only if no endpoint is ready',
      { terminating: true },
      {},
      { ready: false, serving: true, terminating: true },
    ],
    [
      'terminating',
      'the Pod is being deleted and its condition Ready is not True',
      { terminating: true, ready: false },
      {},
      { ...notReady, terminating: true },
    ],
  ])('%s: %s', (verdict, reason, given, serviceGiven, conditions) => {
    expect(explain(service(serviceGiven), pod('web-1', given), written(conditions))).toMatchObject({
      verdict,
      reasons: [reason],
    });
  });

  test('with its addresses, Node and zone', () => {
    expect(explain(service(), pod('web-1', {}), pod('web-2', {}), written(ready))).toEqual({
      pod: 'web-1',
      verdict: 'ready',
      reasons: ['its condition Ready is True since 2026-01-01T00:01:00Z'],
      ips: ['10.0.0.1'],
      node: 'node-a',
      zone: 'a',
      placements: [
        {
          ...{ slice: 'web-slice', addressType: 'IPv4', addresses: ['10.0.0.1'] },
          ...{ ...ready, zone: 'a', hints: [] },
        },
      ],
    });
  });

  test('in the zone that its slice shows, if Nodes are not watched', () => {
    const facts = [service(), pod('web-1', {}, ''), written(ready)];
    const { state } = journalOf(snapshot(1, 1_000, facts, { unwatched: ['nodes'] }));
    expect(explainPod(state, 'web-1', 2_000)).toMatchObject({ verdict: 'ready', zone: 'a' });
    expect(explain(...facts)).toMatchObject({ verdict: 'pending', zone: '' });
  });

  test('a port is omitted by its name, or by its number if it has none', () => {
    const ports = [
      { ...httpPort, name: 'web', targetPort: 'http' },
      { ...httpPort, name: '', port: 443, targetPort: 'tls', protocol: 'UDP' },
    ];
    expect(explain(service({ ports }), pod('web-1', {}), written(ready)).reasons.slice(1)).toEqual([
      'port web is omitted: no container port is named "http" with protocol TCP',
      'port 443 is omitted: no container port is named "tls" with protocol UDP',
    ]);
  });

  test('in a slice with endpoints of other Pods', () => {
    const slice = sliceOf('web-1', { version: '9', ready: true });
    const endpoints = ['web-2', 'web-1', 'web-3'].flatMap(
      (name) => sliceOf(name, { version: '9', ready: true }).endpoints ?? [],
    );
    const { placements } = explain(service(), pod('web-1', {}), sliceFact({ ...slice, endpoints }));
    expect(placements).toHaveLength(1);
  });

  test('pending, if only one of its endpoints is as it should be', () => {
    const ipv6 = { ...sliceOf('web-1', { version: '9', ready: false }), addressType: 'IPv6' } as const;
    const other = sliceFact({ ...ipv6, metadata: { ...ipv6.metadata, name: 'web-6', uid: 'six' } }, { name: 'web-6' });
    expect(explain(service(), pod('web-1', {}), written(ready), other).verdict).toBe('pending');
  });

  test('ready, if one of its endpoints is', () => {
    const ipv6 = { ...sliceOf('web-1', { version: '9', ready: true }), addressType: 'IPv6' } as const;
    const other = sliceFact({ ...ipv6, metadata: { ...ipv6.metadata, name: 'web-6', uid: 'six' } }, { name: 'web-6' });
    expect(explain(service(), pod('web-1', {}), written(ready), other).placements).toHaveLength(2);
    expect(explain(service(), pod('web-1', {}), written(ready), other).verdict).toBe('ready');
  });
});

describe('a Pod that belongs in no slice', () => {
  const cases: [string, Partial<Pod>, Partial<Service>, string | null][] = [
    ['the Service is of type ExternalName, which has no endpoints', {}, { type: 'ExternalName' }, 'a'],
    ['the Service has no selector; its endpoints are custom', {}, { selector: null }, 'a'],
    ['the Pod has terminated: its phase is Succeeded or Failed', { terminal: true }, {}, 'a'],
    ['the Pod has no IP yet', { ip: '', ips: [] }, {}, 'a'],
    ['Node node-a of the Pod does not exist, so its zone is unknown', {}, {}, null],
    ['the Pod is not scheduled, so its zone is unknown', { nodeName: '' }, {}, null],
    [
      'the Pod has no IPv6 address, which the Service requires (it has 10.0.0.1, 10.0.0.2)',
      { ips: ['10.0.0.1', '10.0.0.2'] },
      { ipFamilies: ['IPv6'] },
      'a',
    ],
  ];
  test.each(cases)('is excluded: %s', (reason, given, serviceGiven, zone) => {
    const explained = explain(service(serviceGiven), pod('web-1', given, zone));
    expect(explained).toMatchObject({ verdict: 'excluded', reasons: [reason], placements: [] });
  });

  test.each(cases)('is pending while it is still in one: %s', (reason, given, serviceGiven, zone) => {
    const explained = explain(service(serviceGiven), pod('web-1', given, zone), written(ready));
    expect(explained).toMatchObject({ verdict: 'pending', reasons: ['no controller has written it yet', reason] });
  });

  test('is excluded if the Service does not exist', () => {
    expect(explain(pod('web-1', {}))).toMatchObject({
      verdict: 'excluded',
      reasons: ['the Service does not exist'],
    });
  });
});

describe('a Pod that belongs in a slice', () => {
  test.each<[string, Partial<Pod>, Partial<Service>, string | null]>([
    ['without a Node, if the Service publishes not-ready addresses', {}, { publishNotReadyAddresses: true }, null],
    ['with an address of one of two IP families', {}, { ipFamilies: ['IPv6', 'IPv4'] }, 'a'],
  ])('is pending until it is in one: %s', (_, given, serviceGiven, zone) => {
    const explained = explain(service(serviceGiven), pod('web-1', given, zone));
    expect(explained).toMatchObject({ verdict: 'pending', reasons: ['no controller has written it yet'] });
  });

  test.each<[string, EndpointConditions, Partial<Endpoint>]>([
    ['ready', { ...ready, ready: false }, {}],
    ['serving', { ...ready, serving: false }, {}],
    ['terminating', { ...ready, terminating: true }, {}],
    ['the zone', ready, { zone: 'b' }],
  ])('is pending while its endpoint differs in %s', (_, conditions, given) => {
    expect(explain(service(), pod('web-1', {}), written(conditions, given)).verdict).toBe('pending');
    expect(explain(service(), pod('web-1', {}), written(ready)).verdict).toBe('ready');
  });

  test('is not in it, if the slice belongs to another controller', () => {
    const slice = sliceOf('web-1', { version: '9', ready: true });
    const foreign = { ...slice, metadata: { ...slice.metadata, labels: { 'kubernetes.io/service-name': 'web' } } };
    expect(explain(service(), pod('web-1', {}), sliceFact(foreign))).toMatchObject({
      verdict: 'pending',
      placements: [],
    });
  });

  test('is pending while its write is held, and says by what and until when', () => {
    const { state } = journalOf(snapshot(1, 1_000, [service(), pod('web-1', {})]));
    const before = state.state.controller('endpointslice');
    state.state.setController('endpointslice', { ...before, timers: { ...before.timers, cooldownUntil: 2_500 } });
    expect(explainPod(state, 'web-1', 2_499).reasons).toEqual([
      'the write is held by the write cooldown until 1970-01-01T00:00:02.500Z',
    ]);
    expect(explainPod(state, 'web-1', 2_500).reasons).toEqual(['no controller has written it yet']);
  });

  test('is pending while the history is incomplete', () => {
    const { state } = journalOf(podChange(1, 1_000, service(), pod('web-1', {})));
    expect(explainPod(state, 'web-1', 2_000).reasons).toEqual([
      'the history of this Service is incomplete until the next snapshot',
    ]);
  });
});

describe('a Pod that the Service does not have', () => {
  test.each<[string, Fact[]]>([
    ['no Pod web-1 in the namespace matches this Service (selector app=web)', [service(), pod('web-2', {})]],
    ['the Service does not exist', []],
    ['the Pod is deleted; its endpoint is about to be removed', [service(), written(ready)]],
  ])('%s', (reason, facts) => {
    expect(explain(...facts)).toMatchObject({ verdict: 'unknown', reasons: [reason], ips: [], node: '', zone: '' });
  });

  test('may exist while the history is incomplete', () => {
    expect(explainPod(journalOf(podChange(1, 1_000, service())).state, 'web-1', 2_000).reasons).toEqual([
      'the history of this Service is incomplete until the next snapshot; the Pod may exist',
    ]);
  });
});
