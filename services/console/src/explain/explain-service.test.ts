import type { Fact, Message, PlannedMutations } from '@sluice/messages';
import { leaderAnnotation, type Service } from '@sluice/model';
import { someEndpoints } from '@sluice/model/testing';
import { describe, expect, test } from 'vitest';
import {
  anOutcome,
  aPlan,
  endpointsFact,
  journalOf,
  pod,
  podChange,
  service,
  sliceFact,
  sliceOf,
  snapshot,
  writeOfEndpoints,
} from '../testing/records.ts';
import { explainService } from './explain-service.ts';

const notesOf = (...messages: Message[]) => explainService(journalOf(...messages).state);
const notes = (...facts: Fact[]) => notesOf(snapshot(1, 1_000, facts));
const slice = (version: string) => sliceOf('web-1', { version, ready: true });

describe('notes about a Service', () => {
  test.each<[string, Partial<Service>]>([
    ['No Pod matches: the Service has selector app=web.', {}],
    ['No Pod matches: the Service has an empty selector, which matches every Pod of the namespace.', { selector: {} }],
    ['The Service is of type ExternalName, which has no endpoints.', { type: 'ExternalName' }],
    ['The Service has no selector, and there are no Endpoints to mirror.', { selector: null }],
  ])('%s', (note, given) => {
    expect(notes(service(given))).toEqual([note]);
  });

  test.each<[string, Partial<Service>]>([
    ['The Service is being deleted.', { deleting: true }],
    ['The Service publishes addresses of Pods that are not ready.', { publishNotReadyAddresses: true }],
    [
      'Its traffic distribution is PreferSameNode: each ready endpoint has a hint for its own location.',
      { trafficDistribution: 'PreferSameNode' },
    ],
  ])('%s', (note, given) => {
    expect(notes(service(given), pod('web-1', {}))).toEqual([note]);
  });

  test('topology hints take precedence over the traffic distribution', () => {
    const annotations = { 'service.kubernetes.io/topology-mode': 'Auto' };
    const given = { annotations, trafficDistribution: 'PreferSameZone' };
    expect(notes(service(given), pod('web-1', {})).join()).not.toContain('traffic distribution');
  });

  test('one Pod with a similar label, or several', () => {
    const typo = (pods: number): Fact =>
      ({ ...service({ selector: { app: 'crat', tier: 'web' } }), similarPods: { label: 'app=cart', pods } }) as Fact;
    expect(notes(typo(1))).toEqual(['No Pod matches app=crat,tier=web; 1 Pod in this namespace has app=cart.']);
    expect(notes(typo(2))).toEqual(['No Pod matches app=crat,tier=web; 2 Pods in this namespace have app=cart.']);
  });

  test('Pods in another namespace, if the reader may see it', () => {
    const fact = { ...service(), similarPods: { label: 'app=web', pods: 2, namespace: 'other' } } as Fact;
    const { state } = journalOf(snapshot(1, 1_000, [fact]));
    expect(explainService(state)).toEqual([
      'No Pod matches app=web in this namespace; 2 Pods match in namespace other.',
    ]);
    expect(explainService(state, () => false)).toEqual(['No Pod matches: the Service has selector app=web.']);
  });

  test('custom Endpoints are mirrored, unless they are excluded', () => {
    const custom = service({ selector: null });
    expect(notes(custom, endpointsFact('9'))).toEqual([
      'The Service has no selector; its custom Endpoints are mirrored into slices.',
    ]);
    const metadata = { ...someEndpoints().metadata, annotations: { [leaderAnnotation]: '{}' } };
    expect(notes(custom, endpointsFact('9', { endpoints: someEndpoints({ metadata }) }))).toEqual([
      'The Service has no selector, and its Endpoints are excluded from mirroring; another controller owns its slices.',
    ]);
  });
});

describe('a Service that does not exist', () => {
  const remaining =
    'The Service does not exist. Its remaining objects belong to another controller or are about to be deleted.';

  test.each<[string, string, Fact[]]>([
    ['nothing', 'The Service does not exist.', []],
    ['a slice', remaining, [sliceFact(slice('9'))]],
    ['Endpoints', remaining, [endpointsFact('9')]],
  ])('leaves %s', (_, note, facts) => {
    expect(notes(...facts)).toEqual([note]);
  });

  test('may exist while the history is incomplete', () => {
    expect(notesOf(podChange(1, 1_000, pod('web-1', {})))).toEqual([
      'The history of this Service is incomplete until the next snapshot.',
    ]);
  });
});

describe('what the API server refuses', () => {
  const first = snapshot(1, 1_000, [service(), pod('web-1', {})]);
  const plan = (number: number) => aPlan(number, 1_000 + number, [{ verb: 'create', object: slice('') }]);
  const outcome = (number: number) => anOutcome(number, 1_020 + number, 1_000, [{ verb: 'create', version: '11' }]);
  const refused = { ...outcome(1), status: 'rejected' as const, results: [], message: 'denied by a webhook' };
  const note = 'The API server refuses writes of the endpointslice controller: denied by a webhook';

  test('is noted until a later write succeeds', () => {
    expect(notesOf(first, plan(1), refused)).toEqual([expect.stringContaining(note)]);
    expect(notesOf(first, plan(1), refused, plan(2))).toEqual([note]);
    const conflict = { ...refused, status: 'conflict' as const, plan: { epoch: 1, number: 2 } };
    expect(notesOf(first, plan(1), refused, plan(2), conflict)).toEqual([expect.stringContaining(note)]);
    expect(notesOf(first, plan(1), refused, plan(2), outcome(2))).toEqual([]);
  });

  test('has the time of the next try, unless it is being tried', () => {
    const [waiting = ''] = notesOf(first, plan(1), refused);
    const [, at = ''] = /; next try at (\S+)$/.exec(waiting) ?? [];
    // One to two minutes after the rejection.
    expect(Date.parse(at) - 1_021).toBeGreaterThanOrEqual(60_000);
    expect(Date.parse(at) - 1_021).toBeLessThanOrEqual(120_000);
    expect(notesOf(first, plan(1), refused, plan(2))).toEqual([note]);
  });

  test('comes before what is unusual about the Service', () => {
    const deleted = snapshot(1, 1_000, [service({ deleting: true }), pod('web-1', {})]);
    expect(notesOf(deleted, plan(1), refused)).toEqual([
      expect.stringContaining(note),
      'The Service is being deleted.',
    ]);
  });
});

describe('what another client wrote and Sluice repaired', () => {
  const at = 'Sluice repaired it at 1970-01-01T00:00:03.000Z.';
  const first = snapshot(1, 1_000, [service(), pod('web-1', {}), sliceFact(slice('9')), endpointsFact('9')]);
  const named = (name: string, version: string): Fact =>
    sliceFact({ ...slice(version), metadata: { ...slice(version).metadata, name, uid: name } }, { name, uid: name });
  const because = (plan: PlannedMutations, ...descriptions: string[]): PlannedMutations => ({
    ...plan,
    causes: { first: descriptions.map((description) => ({ description, observedAt: 2_000 })), more: 0 },
  });
  const repair = because(
    aPlan(1, 3_000, [{ verb: 'update', object: slice('15') }]),
    'Pod shop/web-1 modified',
    'EndpointSlice shop/web-slice modified',
  );

  test('names the object, also Endpoints', () => {
    expect(notesOf(first, podChange(2, 2_000, sliceFact(slice('15'))), repair)).toEqual([
      `EndpointSlice web-slice was modified by another client. ${at}`,
    ]);
    const [plan] = writeOfEndpoints(1, 3_000, '16');
    const ofEndpoints = because(plan, 'Endpoints shop/web modified');
    expect(notesOf(first, podChange(2, 2_000, endpointsFact('15')), ofEndpoints)).toEqual([
      `Endpoints web were modified by another client. ${at}`,
    ]);
  });

  test('names the object although something else was observed before the repair', () => {
    const later = podChange(3, 2_500, pod('web-2', {}));
    expect(notesOf(first, podChange(2, 2_000, sliceFact(slice('15'))), later, repair)).toEqual([
      `EndpointSlice web-slice was modified by another client. ${at}`,
    ]);
  });

  test('shows two objects and the number of the others', () => {
    const names = ['web-1', 'web-2', 'web-3'];
    const all = snapshot(1, 1_000, [service(), pod('web-1', {}), ...names.map((name) => named(name, '9'))]);
    const change = (count: number) => podChange(2, 2_000, ...names.slice(0, count).map((name) => named(name, '15')));
    const proven = { ...repair, consecutiveRepairs: 1 };
    const text = (name: string) => `EndpointSlice ${name} was modified by another client`;
    expect(notesOf(all, change(2), proven)).toEqual([`${text('web-1')}; ${text('web-2')}. ${at}`]);
    expect(notesOf(all, change(3), proven)).toEqual([`${text('web-1')}; ${text('web-2')}; 1 more. ${at}`]);
  });

  test('does not blame a client for an object that was only found, or for one of the other controller', () => {
    const found = podChange(2, 2_000, named('web-9', '15'));
    const proven = { ...repair, consecutiveRepairs: 1 };
    expect(notesOf(first, found, proven)).toEqual([`Another client wrote web-slice. ${at}`]);
    expect(notesOf(first, podChange(2, 2_000, endpointsFact('15')), proven)).toEqual([
      `Another client wrote web-slice. ${at}`,
    ]);
    const without = snapshot(1, 1_000, [service(), pod('web-1', {})]);
    const [ofEndpoints] = writeOfEndpoints(1, 3_000, '16');
    const provenEndpoints = { ...ofEndpoints, consecutiveRepairs: 1 };
    expect(notesOf(without, podChange(2, 2_000, endpointsFact('15')), provenEndpoints)).toEqual([
      `Another client wrote web. ${at}`,
    ]);
    const missing = snapshot(2, 2_000, [service(), pod('web-1', {})]);
    expect(notesOf(first, missing, because(repair, 'EndpointSlice shop/web-slice deleted'))).toEqual([]);
  });

  test('a plan without writes repairs nothing', () => {
    const modified = podChange(2, 2_000, sliceFact(slice('15')));
    const nothing = because(aPlan(1, 3_000, []), 'EndpointSlice shop/web-slice modified');
    expect(notesOf(first, modified, nothing)).toEqual([]);
  });

  test('is noted until the next repair', () => {
    const modified = podChange(2, 2_000, sliceFact(slice('15')));
    const outcome = anOutcome(1, 3_010, 2_000, [{ verb: 'update', version: '16' }]);
    const unrelated = { ...aPlan(2, 4_000, [{ verb: 'update', object: slice('16') }]) };
    expect(notesOf(first, modified, repair, outcome, unrelated)).toEqual([
      `EndpointSlice web-slice was modified by another client. ${at}`,
    ]);
  });
});

test('a Service of a cluster that was removed from the fleet', () => {
  const removed = { kind: 'clusterRemoved', cluster: 'cluster-uid', epoch: 1, removedAt: 9_000 } as const;
  expect(notesOf(snapshot(1, 1_000, [service({ deleting: true })]), removed)).toEqual([
    'The fleet no longer serves the cluster of this Service.',
  ]);
});
