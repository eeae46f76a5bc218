import { readFileSync } from 'node:fs';
import { expect, onTestFinished, test } from 'vitest';
import { endpointSlicesController } from './endpointslice/controller.ts';
import {
  allControllers,
  controllerManaging,
  controllers,
  decisionOrder,
  descriptorOf,
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
