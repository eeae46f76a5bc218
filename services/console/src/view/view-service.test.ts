import type { Fact, Message } from '@sluice/messages';
import type { Endpoint, EndpointSlice, Service } from '@sluice/model';
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
} from '../testing/records.ts';
import { viewPod, viewService } from './view-service.ts';

function momentOf(...facts: Fact[]) {
  const { state, entries } = journalOf(snapshot(1, 1_000, facts));
  return { at: 2_000, live: true, state, entries };
}
const view = (...facts: Fact[]) => viewService(momentOf(...facts), 'prod', { afterMs: 0, below: 1 });

const slice = (name: string, given: Partial<EndpointSlice> = {}): Fact => {
  const object = sliceOf('web-1', { version: '9', ready: true });
  return sliceFact({ ...object, ...given, metadata: { ...object.metadata, name, uid: name } }, { name, uid: name });
};

test('a Service is shown with its Pods and slices in the order of their names', () => {
  const pods = ['web-2', 'web-1', 'web-3'].map((name) => pod(name, {}));
  const shown = view(service(), ...pods, slice('web-b'), slice('web-c'), slice('web-a'));
  expect(shown).toMatchObject({ at: 2_000, live: true, summary: { clusterName: 'prod', name: 'web' } });
  expect(shown.pods.map((one) => one.pod)).toEqual(['web-1', 'web-2', 'web-3']);
  expect(shown.slices.map(({ name }) => name)).toEqual(['web-a', 'web-b', 'web-c']);
});

test('a Pod that only a slice has is shown, a custom endpoint is no Pod', () => {
  const endpoints = [...(sliceOf('web-9', { version: '9', ready: true }).endpoints ?? []), { addresses: ['10.0.0.9'] }];
  expect(view(service(), pod('web-1', {}), slice('web-a', { endpoints })).pods.map((one) => one.pod)).toEqual([
    'web-1',
    'web-9',
  ]);
});

test.each<[string, Partial<Service> | null, object | null]>([
  ['with a cluster IP', {}, { type: 'ClusterIP', headless: false, selector: { app: 'web' } }],
  ['headless', { clusterIP: 'None' }, { type: 'ClusterIP', headless: true, selector: { app: 'web' } }],
  ['without a selector', { type: 'NodePort', selector: null }, { type: 'NodePort', headless: false, selector: null }],
  ['that does not exist', null, null],
])('the kind of a Service %s', (_, given, kind) => {
  expect(view(...(given === null ? [] : [service(given)])).kind).toEqual(kind);
});

describe('a slice', () => {
  test('is shown with its manager, its ports and the state of its endpoints', () => {
    expect(view(service(), slice('web-a')).slices).toEqual([
      {
        ...{ name: 'web-a', addressType: 'IPv4', managedBy: 'endpointslice-controller.k8s.io' },
        ports: [{ name: 'http', protocol: 'TCP', port: 8080 }],
        endpoints: [
          {
            ...{ pod: 'web-1', node: 'node-a', addresses: ['10.0.0.1'] },
            ...{ ready: true, serving: true, terminating: false, zone: 'a', hints: [] },
          },
        ],
      },
    ]);
  });

  test('has the defaults of the API for what another client left out', () => {
    const bare = {
      ...sliceOf('web-1', { version: '9', ready: true }),
      ...{ ports: [{}], endpoints: [{ addresses: ['10.0.0.9'] }] },
      metadata: { name: 'web-slice', namespace: 'shop', uid: 'slice-uid', resourceVersion: '9' },
    };
    expect(view(service(), sliceFact(bare as EndpointSlice)).slices).toMatchObject([
      {
        managedBy: '',
        ports: [{ name: '', protocol: 'TCP', port: null }],
        endpoints: [{ pod: '', node: '', ready: true }],
      },
    ]);
    const empty = { ...bare, ports: null, endpoints: null } as EndpointSlice;
    expect(view(service(), sliceFact(empty)).slices).toMatchObject([{ ports: [], endpoints: [] }]);
  });
});

test('the addresses of the Endpoints are counted by their readiness', () => {
  const [one, two, three] = ['10.0.0.1', '10.0.0.2', '10.0.0.3'].map((ip) => ({ ip })) as [object, object, object];
  const subsets = [{ addresses: [one, two] }, { addresses: [three], notReadyAddresses: [one] }] as never;
  const { metadata } = endpointsFact('9').endpoints ?? someEndpoints();
  const endpoints = (given: object) => endpointsFact('9', { endpoints: { metadata, ...given } });
  expect(view(service(), endpoints({ subsets })).endpoints).toEqual({ ready: 3, notReady: 1 });
  expect(view(service(), endpoints({ subsets: null })).endpoints).toEqual({ ready: 0, notReady: 0 });
  expect(view(service()).endpoints).toBeNull();
});

test('a Pod that is not one of the Service has the reason, unless its removal is known', () => {
  expect(viewPod(momentOf(service()), 'web-9')).toMatchObject({
    verdict: 'unknown',
    reasons: ['no Pod web-9 in the namespace matches this Service (selector app=web)'],
    ...{ lastChange: null, unready: null, deletingSince: null, readinessChanges: 0 },
  });
});

test('a Pod whose endpoint was removed has that reason only while it is gone', () => {
  const written = (number: number, at: number, endpoints: readonly Endpoint[]): Message[] => {
    const object = { ...sliceOf('web-1', { version: '9', ready: true }), endpoints };
    return [
      aPlan(number, at, [{ verb: 'update', object }]),
      anOutcome(number, at + 10, at - 10, [{ verb: 'update', version: `${10 + number}` }]),
    ];
  };
  const endpoints = sliceOf('web-1', { version: '9', ready: true }).endpoints ?? [];
  const gone: Fact = { kind: 'pod', name: 'web-1', pod: null, node: null };
  const removal = [
    snapshot(1, 1_000, [service(), pod('web-1', {}), slice('web-slice')]),
    ...written(1, 1_010, endpoints),
    podChange(2, 2_000, gone),
    ...written(2, 2_010, []),
  ];
  const reasonsOf = (...messages: Message[]) => {
    const { state, entries } = journalOf(...messages);
    return viewPod({ at: 9_000, live: true, state, entries }, 'web-1').reasons;
  };
  expect(reasonsOf(...removal)).toEqual(['the Pod was deleted, or its labels no longer match the selector']);
  expect(reasonsOf(...removal, podChange(3, 3_000, pod('web-1', { uid: 'new' })))).toEqual([
    'no controller has written it yet',
  ]);
  const still = sliceFact({ ...sliceOf('web-1', { version: '30', ready: true }) }, { name: 'web-b' });
  expect(reasonsOf(...removal, podChange(3, 3_000, still))).toEqual([
    'the Pod is deleted; its endpoint is about to be removed',
  ]);
});
