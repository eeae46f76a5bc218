import type { Pod, PodDetails } from '@sluice/model';
import { aPodNamed } from '@sluice/model/testing';
import { describe, expect, test } from 'vitest';
import { isProblem } from '../../page/entry-text.ts';
import { becauseOf, describePodChange, type KnownPod } from './describe-pod-change.ts';

const known = (given: Partial<Pod> = {}, zone: string | null = 'a'): KnownPod => ({
  pod: aPodNamed('web-1', given),
  node: zone === null ? null : { zone },
});
const details = (given: Partial<PodDetails>): Partial<Pod> => ({
  details: { owner: '', disruption: '', gracePeriodSeconds: 30, preStop: [], containers: [], ...given },
});
const http = { name: 'http', protocol: 'TCP', containerPort: 8080 };

describe('a Pod that is observed for the first time', () => {
  test.each<[string, KnownPod]>([
    ['ready, 10.1.0.1, on node-a', known()],
    ['not ready, 10.1.0.1, on node-a', known({ ready: false })],
    ['being deleted, 10.1.0.1, on node-a', known({ terminating: true })],
    ['terminated, 10.1.0.1, on node-a', known({ terminating: true, terminal: true })],
    ['ready, 10.1.0.1, fd00::1, on node-a', known({ ips: ['10.1.0.1', 'fd00::1'] })],
    ['not ready, no IP, not scheduled', known({ ready: false, ip: '', ips: [], nodeName: '' }, null)],
    ['ready, 10.1.0.1, on node-a (unknown Node)', known({}, null)],
  ])('appeared: %s', (text, pod) => {
    expect(describePodChange(null, pod)).toEqual([`appeared: ${text}`]);
    const earlier = known({ uid: 'earlier', ready: false });
    expect(describePodChange(earlier, pod)).toEqual([`was replaced by a Pod of the same name: ${text}`]);
  });
});

describe('a Pod that changes', () => {
  test.each<[string, KnownPod, KnownPod]>([
    ['became ready', known({ ready: false }), known()],
    ['became not ready', known(), known({ ready: false })],
    ['is being deleted', known(), known({ terminating: true })],
    ['terminated', known(), known({ terminal: true })],
    ['has IP 10.1.0.2', known(), known({ ips: ['10.1.0.2'] })],
    ['has IP 10.1.0.1, fd00::1', known(), known({ ips: ['10.1.0.1', 'fd00::1'] })],
    ['lost its IP', known(), known({ ips: [] })],
    ['was assigned to Node node-b', known({ nodeName: '' }, null), known({ nodeName: 'node-b' }, null)],
    ['is on Node node-a, which is now known', known({}, null), known()],
    ['is on Node node-a, which was deleted', known(), known({}, null)],
    ['is on Node node-a, which moved to zone b', known(), known({}, 'b')],
    ['is on Node node-a, which moved to zone (none)', known(), known({}, '')],
    ['changed its hostname', known(), known({ hostname: 'db-0' })],
    ['changed its hostname', known(), known({ subdomain: 'db' })],
    ['changed its ports', known(), known({ ports: [http] })],
  ])('%s', (text, before, after) => {
    expect(describePodChange(before, after)).toEqual([text]);
  });

  test.each<[string, KnownPod, KnownPod]>([
    ['stays as it is', known({ ports: [http] }), known({ ports: [{ ...http }] })],
    ['stays in deletion', known({ terminating: true }), known({ terminating: true })],
    ['stays terminated', known({ terminal: true }), known({ terminal: true })],
    ['is on a Node that stays unknown', known({}, null), known({}, null)],
    ['is ready since another time', known(), known({ readyTransitionTime: '2026-01-01T09:00:00Z' })],
  ])('says nothing if it %s', (_, before, after) => {
    expect(describePodChange(before, after)).toEqual([]);
  });

  test('says everything that changed at once, the deletion first', () => {
    const after = known({ terminating: true, ready: false, ips: [] });
    expect(describePodChange(known(), after)).toEqual(['is being deleted', 'became not ready', 'lost its IP']);
  });
});

test('what is wrong is recognized by its text, and what a rollout brings is not', () => {
  const waiting = details({ containers: ['app waiting in CrashLoopBackOff'] });
  const texts = (before: KnownPod, after: KnownPod) => describePodChange(before, after).map((text) => ({ text }));
  const onBadNode = { ...known(), node: { zone: 'a', condition: 'NotReady' } };
  for (const after of [known({ ready: false }), known(waiting), known({}, null), onBadNode]) {
    expect(texts(known(), after).map(isProblem)).toEqual([true]);
  }
  for (const [before, after] of [
    [known({ ready: false }), known()],
    [known(), known({ terminating: true })],
    [known({}, null), known()],
    [onBadNode, known()],
  ] as const) {
    expect(texts(before, after).map(isProblem)).toEqual([false]);
  }
});

test('a Pod that is gone may only have lost its labels', () => {
  expect(describePodChange(known(), null)).toEqual(['was deleted, or its labels no longer match the selector']);
  expect(describePodChange(null, null)).toEqual([]);
});

test.each([
  ['', undefined],
  ['', { status: 'False', reason: '', message: '' }],
  [' (ContainersNotReady)', { status: 'False', reason: 'ContainersNotReady', message: '' }],
  [' (probe failed)', { status: 'False', reason: '', message: 'probe failed' }],
  [' (ContainersNotReady: unready: [c])', { status: 'False', reason: 'ContainersNotReady', message: 'unready: [c]' }],
])('a Pod gives its own reason for not being ready: %j', (text, unready) => {
  const { pod } = known({ ready: false, ...(unready !== undefined && { unready }) });
  expect(becauseOf({ pod, node: { zone: 'a' } })).toBe(text);
  expect(describePodChange(known(), { pod, node: { zone: 'a' } })).toEqual([`became not ready${text}`]);
});

describe('in a recording', () => {
  const crashing = details({ containers: ['app: waiting (CrashLoopBackOff), 3 restarts'] });

  test.each<[string, KnownPod, KnownPod]>([
    [
      'is being deleted (EvictionByEvictionAPI)',
      known(),
      known({ terminating: true, ...details({ disruption: 'EvictionByEvictionAPI' }) }),
    ],
    ['became not ready (app: waiting (CrashLoopBackOff), 3 restarts)', known(), known({ ready: false, ...crashing })],
    [
      'has container app: waiting (CrashLoopBackOff), 3 restarts',
      known({ ready: false }),
      known({ ready: false, ...crashing }),
    ],
  ])('a Pod %s', (text, before, after) => {
    expect(describePodChange(before, after)).toEqual([text]);
  });

  test('a Pod that is not ready names the condition of its Node, as does a Pod whose Node changes', () => {
    const lost = { zone: 'a', condition: 'not ready (NodeStatusUnknown)' };
    const { pod } = known();
    const { pod: unready } = known({ ready: false });
    expect(describePodChange({ pod, node: lost }, { pod: unready, node: lost })).toEqual([
      'became not ready (Node node-a is not ready (NodeStatusUnknown))',
    ]);
    expect(describePodChange(known(), { pod, node: lost })).toEqual([
      'is on Node node-a, which is not ready (NodeStatusUnknown)',
    ]);
    expect(describePodChange({ pod, node: lost }, known())).toEqual([
      'is on Node node-a, which is as it should be again',
    ]);
  });

  test('its reason is followed by the states of its containers', () => {
    const unready = { status: 'False', reason: 'ContainersNotReady', message: '' };
    const { pod } = known({ ready: false, unready, ...crashing });
    expect(becauseOf({ pod, node: null })).toBe(' (ContainersNotReady; app: waiting (CrashLoopBackOff), 3 restarts)');
  });

  test('the controller that owns a Pod is named', () => {
    expect(describePodChange(null, known(details({ owner: 'ReplicaSet web-5d9' })))).toEqual([
      'appeared: ready, 10.1.0.1, on node-a, of ReplicaSet web-5d9',
    ]);
  });

  test('a container that is as it should be again is not described', () => {
    expect(describePodChange(known(crashing), known(details({})))).toEqual([]);
    expect(describePodChange(known(crashing), known(crashing))).toEqual([]);
  });
});
