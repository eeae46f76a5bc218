import type { Node, Pod } from '@sluice/model';
import { expect, test } from 'vitest';
import { aNode, aPod, aService, aSlice, someEndpoints } from './testing/objects.ts';
import { describeEvent, type ObjectEvent } from './watched-objects.ts';

const podEvent = (old: Partial<Pod> | undefined, next: Partial<Pod> | undefined): ObjectEvent => ({
  ...{ resource: 'pods', type: 'modified', namespace: 'shop', name: 'cart-1', observedAt: 1 },
  oldObject: old && aPod('cart-1', {}, old),
  newObject: next && aPod('cart-1', {}, next),
});

test.each<[string, Partial<Pod> | undefined, Partial<Pod> | undefined]>([
  ['deleted', {}, undefined],
  ['added, ready', undefined, {}],
  ['added', undefined, { ready: false }],
  ['replaced by another of the same name', { uid: 'u1' }, { uid: 'u2', ready: false }],
  ['is terminating', {}, { terminating: true, ready: false }],
  ['finished', {}, { terminal: true, ready: false }],
  ['became ready', { ready: false }, {}],
  ['became not ready', {}, { ready: false }],
  ['got address 10.1.0.2, fd00::2', { ips: ['10.1.0.1'] }, { ips: ['10.1.0.2', 'fd00::2'] }],
  ['got address none', { ips: ['10.1.0.1'] }, { ips: [] }],
  ['was bound to Node n2', { nodeName: '' }, { nodeName: 'n2' }],
  ['changed', {}, { hostname: 'h' }],
  ['changed', { terminating: true, terminal: true }, { terminating: true, terminal: true, hostname: 'h' }],
  ['became not ready', { terminating: true }, { terminating: true, ready: false }],
])('a Pod %s', (change, old, next) => {
  expect(describeEvent(podEvent(old, next))).toBe(`Pod shop/cart-1 ${change}`);
});

const nodeEvent = (oldObject: Node | undefined, newObject: Node | undefined): ObjectEvent => ({
  ...{ resource: 'nodes', type: 'modified', namespace: '', name: 'n1', observedAt: 1 },
  ...{ oldObject, newObject },
});

test.each<[string, Node | undefined, Node | undefined]>([
  ['deleted', aNode('n1', 'a'), undefined],
  ['added', undefined, aNode('n1', 'a')],
  ['moved to zone b', aNode('n1', 'a'), aNode('n1', 'b', { ready: false })],
  ['moved to zone none', aNode('n1', 'a'), aNode('n1', '')],
  ['became ready', aNode('n1', 'a', { ready: false }), aNode('n1', 'a')],
  ['became not ready', aNode('n1', 'a'), aNode('n1', 'a', { ready: false })],
  [
    'became not ready (NodeStatusUnknown)',
    aNode('n1', 'a'),
    aNode('n1', 'a', { ready: false, condition: 'not ready (NodeStatusUnknown)' }),
  ],
  ['is unschedulable', aNode('n1', 'a', { condition: '' }), aNode('n1', 'a', { condition: 'unschedulable' })],
  ['is schedulable', aNode('n1', 'a', { condition: 'unschedulable' }), aNode('n1', 'a', { condition: '' })],
  ['changed', aNode('n1', 'a'), aNode('n1', 'a', { allocatableMilliCpu: 8_000 })],
])('a Node %s, named without a namespace', (change, old, next) => {
  expect(describeEvent(nodeEvent(old, next))).toBe(`Node n1 ${change}`);
});

const common = { namespace: 'shop', name: 'web', oldObject: undefined, observedAt: 1 };

test.each<[string, ObjectEvent]>([
  ['Service shop/web added', { ...common, resource: 'services', type: 'added', newObject: aService('web') }],
  [
    'Endpoints shop/web changed',
    { ...common, resource: 'endpoints', type: 'modified', newObject: someEndpoints('web') },
  ],
  ['EndpointSlice shop/web deleted', { ...common, resource: 'endpointslices', type: 'deleted', newObject: undefined }],
  [
    'EndpointSlice shop/web changed',
    { ...common, resource: 'endpointslices', type: 'modified', newObject: aSlice('web', 'web') },
  ],
])('%s', (description, event) => {
  expect(describeEvent(event)).toBe(description);
});
