import colors from 'picocolors';
import { expect, test } from 'vitest';
import type { PodView, ServiceDetail, SliceView } from '../view/schemas.ts';
import { diffService } from './diff-service.ts';
import { printDiff } from './print-diff.ts';

const format = { width: 100, now: 0, colors: colors.createColors(false) };

const pod = (name: string, verdict: PodView['verdict'], reason = ''): PodView => ({
  ...{ pod: name, verdict, reasons: [reason], ips: [], node: '', zone: '', placements: [], deletingSince: null },
  ...{ lastChange: null, unready: null, readinessChanges: 0 },
});

const slice = (name: string, endpoints: number, port = 8080): SliceView => ({
  ...{ name, addressType: 'IPv4', managedBy: 'me', ports: [{ name: 'http', protocol: 'TCP', port }] },
  endpoints: Array.from({ length: endpoints }, () => {
    const state = { ready: true, serving: true, terminating: false, zone: '', hints: '' };
    return { ...state, pod: '', node: '', addresses: [] } as never;
  }),
});

const detail = (given: Partial<ServiceDetail> & { readonly ready?: number }): ServiceDetail => {
  const { ready = 2, ...rest } = given;
  const summary = { ready, endpoints: 2 } as ServiceDetail['summary'];
  const kind = { type: 'ClusterIP', headless: false, selector: { app: 'cart' } };
  const parts = { pods: [], slices: [], endpoints: { ready: 2, notReady: 0 } };
  return { at: 0, outage: null, live: false, summary, joinedAs: null, kind, notes: [], ...parts, ...rest };
};

test('the Service, its Pods, slices and Endpoints are compared', () => {
  const before = detail({
    pods: [pod('cart-1', 'ready'), pod('cart-2', 'ready'), pod('cart-4', 'ready')],
    slices: [slice('cart-a', 2), slice('cart-b', 1)],
  });
  const after = detail({
    ...{ ready: 1, kind: { type: 'ClusterIP', headless: true, selector: { app: 'crat' } } },
    pods: [pod('cart-2', 'not ready', 'probe failed'), pod('cart-3', 'ready'), pod('cart-4', 'ready')],
    slices: [slice('cart-a', 1, 9090), slice('cart-c', 1)],
    endpoints: null,
  });
  expect(printDiff('Service shop/cart', diffService(before, after), format)).toBe(`Service shop/cart
~ Service: ClusterIP, selector app=cart → ClusterIP, headless, selector app=crat
~ ready endpoints: 2 of 2 → 1 of 2
− Pod cart-1: was ready
~ Pod cart-2: ready → not ready (probe failed)
+ Pod cart-3: ready
~ EndpointSlice cart-a: 2 endpoints; http 8080; me → 1 endpoint; http 9090; me
− EndpointSlice cart-b: was 1 endpoint; http 8080; me
+ EndpointSlice cart-c: 1 endpoint; http 8080; me
− Endpoints: was 2 ready, 0 not ready
`);
});

test('a Pod that is not of the Service any more is gone', () => {
  const [before, after] = [detail({ pods: [pod('a', 'ready')] }), detail({ pods: [pod('a', 'unknown', 'deleted')] })];
  expect(diffService(before, after)).toEqual([{ type: 'removed', what: 'Pod a', before: 'ready', after: '' }]);
});

test('a Service that came or went is added or removed', () => {
  expect(diffService(detail({ kind: null }), detail({}))).toMatchObject([{ type: 'added', what: 'Service' }]);
  expect(diffService(detail({}), detail({ kind: null }))).toMatchObject([{ type: 'removed', what: 'Service' }]);
});

test('no difference is said', () => {
  expect(printDiff('Service shop/cart', diffService(detail({}), detail({})), format)).toBe(
    'Service shop/cart\nNothing differs.\n',
  );
});
