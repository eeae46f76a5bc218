import { describe, expect, test } from 'vitest';
import { watchedResources } from './cluster.ts';
import { apiGroup, apiVersion, collectionPath, objectPath, resourceInfo } from './resources.ts';

test.each([
  ['services', '', 'v1', 'Service', '/api/v1/services'],
  ['pods', '', 'v1', 'Pod', '/api/v1/pods'],
  ['nodes', '', 'v1', 'Node', '/api/v1/nodes'],
  ['endpoints', '', 'v1', 'Endpoints', '/api/v1/endpoints'],
  [
    'endpointslices',
    'discovery.k8s.io',
    'discovery.k8s.io/v1',
    'EndpointSlice',
    '/apis/discovery.k8s.io/v1/endpointslices',
  ],
] as const)('%s are in group "%s", version %s, kind %s, at %s', (resource, group, version, kind, path) => {
  expect([apiGroup(resource), apiVersion(resource), resourceInfo[resource].kind, collectionPath(resource)]).toEqual([
    ...[group, version, kind, path],
  ]);
});

test('every watched resource has a path', () => {
  expect(Object.keys(resourceInfo).sort()).toEqual([...watchedResources].sort());
});

describe('the path of an object', () => {
  test('contains its namespace and name', () => {
    expect(objectPath('endpointslices', 'shop', 'web-x')).toBe(
      '/apis/discovery.k8s.io/v1/namespaces/shop/endpointslices/web-x',
    );
    expect(objectPath('endpoints', 'shop')).toBe('/api/v1/namespaces/shop/endpoints');
  });

  test('of a Node has no namespace', () => {
    expect(objectPath('nodes', '', 'n1')).toBe('/api/v1/nodes/n1');
    expect(objectPath('nodes', 'shop', 'n1')).toBe('/api/v1/nodes/n1');
  });

  test('cannot be left by a name with a slash', () => {
    expect(objectPath('pods', 'a/b', '../secrets')).toBe('/api/v1/namespaces/a%2Fb/pods/..%2Fsecrets');
  });
});
