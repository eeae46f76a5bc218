import { ApiError, type Resource } from '@sluice/kubernetes';
import { expect, test } from 'vitest';
import { readCurrentState } from './read-current-state.ts';

const key = { cluster: 'c', namespace: 'shop', service: 'web' };
const { signal } = new AbortController();

/** The state, and the requests for it. */
async function read(resources?: ReadonlySet<Resource>) {
  const asked: string[] = [];
  const connection = {
    request: async ({ method, path }: { readonly method: string; readonly path: string }) => {
      asked.push(`${method} ${decodeURIComponent(path)}`);
      const items = path.includes('/endpoints?') ? [] : [{ metadata: { name: 'web' } }];
      return { status: 200, headers: {}, body: { items } };
    },
  };
  return { state: await readCurrentState({ connection, reader: { resources } }, key, signal), asked };
}

test('lists a Service, its Endpoints and its slices, because watchers may not get objects', async () => {
  const { state, asked } = await read();
  const one = [{ metadata: { name: 'web' } }];
  expect(state).toEqual({ services: one, pods: [], endpoints: [], endpointslices: one });
  expect(asked).toEqual([
    'GET /api/v1/namespaces/shop/services?fieldSelector=metadata.name=web',
    'GET /api/v1/namespaces/shop/endpoints?fieldSelector=metadata.name=web',
    'GET /apis/discovery.k8s.io/v1/namespaces/shop/endpointslices?labelSelector=kubernetes.io/service-name=web',
  ]);
});

test('reads only resources that are watched', async () => {
  const { asked } = await read(new Set(['services', 'endpointslices']));
  expect(asked.map((request) => request.replace(/.*\/(\w+)\?.*/, '$1'))).toEqual(['services', 'endpointslices']);
});

test('throws all errors', async () => {
  const request = async () => {
    throw new ApiError('away', { kind: 'retry', status: 503, reason: 'ServiceUnavailable' });
  };
  await expect(readCurrentState({ connection: { request }, reader: {} }, key, signal)).rejects.toThrow('away');
});
