import { expect, test } from 'vitest';
import { checkIdentity } from './check-identity.ts';

const object = { namespace: 'shop', name: 'web', resourceVersion: '7', uid: 'u-1', labels: {} };

test.each<[string, Parameters<typeof checkIdentity>[0], object]>([
  ['a Pod of 253 characters', 'pods', { name: `a.${'b'.repeat(251)}` }],
  ['a Node, which has no namespace', 'nodes', { namespace: '' }],
  ['an object without a uid', 'endpoints', { uid: undefined }],
])('%s is accepted', (_, resource, given) => {
  expect(() => checkIdentity(resource, { ...object, ...given })).not.toThrow();
});

test.each<[string, Parameters<typeof checkIdentity>[0], object, string]>([
  ['a long name', 'services', { name: 'a'.repeat(254) }, 'metadata.name has 254 characters, more than 253'],
  ['a longer name', 'pods', { name: 'a'.repeat(40_000) }, 'metadata.name has 40000 characters, more than 253'],
  ['a long namespace', 'pods', { namespace: 'a'.repeat(64) }, 'metadata.namespace has 64 characters, more than 63'],
  ['no name', 'nodes', { name: '' }, 'metadata.name is not a name of Kubernetes'],
  ['no namespace', 'services', { namespace: '' }, 'metadata.namespace is not a name of Kubernetes'],
  ['a line break', 'services', { name: 'web\r\nX: y' }, 'metadata.name is not a name of Kubernetes'],
  ['a slash', 'services', { name: 'shop/web' }, 'metadata.name is not a name of Kubernetes'],
  ['a long uid', 'pods', { uid: 'u'.repeat(129) }, 'metadata.uid is not a string of at most 128 characters'],
  ['a uid with spaces', 'pods', { uid: 'u 1' }, 'metadata.uid is not a string of at most 128 characters'],
  [
    'the label of a long Service',
    'endpointslices',
    { labels: { 'kubernetes.io/service-name': 'a'.repeat(254) } },
    'the label kubernetes.io/service-name is not the name of a Service',
  ],
  ['a long version', 'pods', { resourceVersion: '1'.repeat(65) }, 'metadata.resourceVersion has 65 characters'],
])('an object with %s is rejected', (_, resource, given, message) => {
  expect(() => checkIdentity(resource, { ...object, ...given })).toThrow(message);
});

const resources = ['services', 'pods', 'nodes', 'endpoints', 'endpointslices'] as const;
const hostile = ['', 'a\r\nb', 'a/b', '..', '*', 'a b', '\u0000', '\u001b[2J', 'a'.repeat(100_000)];

test.each(resources)('no hostile text becomes the name, namespace or uid of one of the %s', (resource) => {
  for (const text of hostile) {
    const given = [{ name: text }, ...(resource === 'nodes' ? [] : [{ namespace: text }])];
    for (const field of given) expect(() => checkIdentity(resource, { ...object, ...field })).toThrow(TypeError);
  }
  for (const uid of hostile.slice(1).filter((text) => text !== '..'))
    expect(() => checkIdentity(resource, { ...object, uid })).toThrow(TypeError);
});
