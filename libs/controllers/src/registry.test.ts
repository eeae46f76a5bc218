import { readFileSync } from 'node:fs';
import { type EventToRecord, topologyModeAnnotation } from '@sluice/model';
import { aService, aSlice, pods, someEndpoints } from '@sluice/model/testing';
import { expect, it, onTestFinished, test } from 'vitest';
import { endpointSlicesController, reconcileEndpointSlices } from './endpointslice/controller.ts';
import { reconcileMirroring } from './endpointslicemirroring/controller.ts';
import { endpointSliceFailure, endpointsFailure } from './failure-events.ts';
import {
  allControllers,
  controllerManaging,
  controllers,
  decisionOrder,
  descriptorOf,
  eventComponent,
  isController,
  register,
  resourcesOf,
  sliceControllers,
} from './registry.ts';

const fourth = { ...endpointSlicesController, name: 'fourth', managedBy: 'fourth.example', flags: ['fourth'] } as const;

test('the clients are named as the ServiceAccounts whose permissions every API server grants (A1)', () => {
  const manifest = readFileSync(new URL('../../../infra/kubernetes/controller-accounts.yaml', import.meta.url), 'utf8');
  const accounts = manifest.matchAll(/^kind: ServiceAccount\nmetadata:\n {2}name: (.*)\n {2}namespace: kube-system$/gm);
  expect(controllers.map((controller) => descriptorOf(controller).client)).toEqual(
    [...accounts].map(([, name]) => name),
  );
});

test('a registered controller is one of all, and decides before Endpoints', () => {
  const before = [...controllers];
  const unregister = register(fourth);
  onTestFinished(unregister);
  expect([...controllers]).toEqual([...before, 'fourth']);
  expect([...allControllers]).toEqual([...controllers]);
  expect(decisionOrder).toEqual(['endpointslice', 'endpointslicemirroring', 'fourth', 'endpoints']);
  expect(sliceControllers).toEqual(['endpointslice', 'endpointslicemirroring', 'fourth']);
  expect([controllerManaging('fourth.example'), isController('fourth')]).toEqual(['fourth', true]);
  expect(descriptorOf('fourth')).toBe(fourth);
  unregister();
  expect([controllers, controllerManaging('fourth.example'), isController('fourth')]).toEqual([
    before,
    undefined,
    false,
  ]);
  expect(() => descriptorOf('fourth')).toThrow('controller fourth is not registered');
});

test.each([
  { name: 'endpointslice' },
  { managedBy: 'endpointslice-controller.k8s.io' },
  { flags: ['other', 'endpoint'] as const },
  { writes: 'endpoints' as const },
])('two controllers cannot share %j', (shared) => {
  expect(() => register({ ...fourth, ...shared })).toThrow(/^controller/);
  expect(controllers).toHaveLength(3);
});

test('controllers need the resources that they read or write, and no others', () => {
  expect([...resourcesOf(['endpointslice'])]).toEqual(['services', 'pods', 'nodes', 'endpointslices']);
  expect([...resourcesOf(['endpoints'])]).toEqual(['services', 'pods', 'endpoints']);
  expect([...resourcesOf(['endpointslicemirroring'])]).toEqual(['services', 'endpoints', 'endpointslices']);
  expect(resourcesOf(controllers).size).toBe(5);
});

const service = aService({ annotations: { [topologyModeAnnotation]: 'Auto' } });
const object = someEndpoints();

function withheldHints(): readonly EventToRecord[] {
  const inputs = { service, pods: pods(1), slices: [], triggers: null, topology: null, hints: null };
  return reconcileEndpointSlices({ ...inputs, maxEndpointsPerSlice: 100 }).plan.events;
}

function skippedAddresses(): readonly EventToRecord[] {
  const endpoints = someEndpoints({
    subsets: [{ addresses: [{ ip: '1.2.3' }, { ip: '10.0.0.1' }, { ip: '10.0.0.2' }] }],
  });
  const inputs = { service: aService({ selector: null }), endpoints, slices: [], maxEndpointsPerSubset: 1 };
  return reconcileMirroring(inputs).plan.events;
}

const failed = {
  mutation: { verb: 'update', resource: 'endpointslices', object: aSlice('s') },
  message: 'no',
} as const;

it.each<[string, readonly (EventToRecord | null)[]]>([
  [
    'endpoint-controller',
    (['create', 'update'] as const).map((verb) =>
      endpointsFailure(service, { mutation: { verb, resource: 'endpoints', object }, message: 'no' }),
    ),
  ],
  ['endpoint-slice-controller', [endpointSliceFailure(service, [failed], []), ...withheldHints()]],
  ['endpoint-slice-mirroring-controller', skippedAddresses()],
])('reports Events as %s (A1)', (component, events) => {
  expect(events.length).toBeGreaterThanOrEqual(2);
  expect(new Set(events.map((event) => event && eventComponent(event)))).toEqual(new Set([component]));
});
