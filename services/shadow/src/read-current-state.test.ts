import { ApiError } from '@sluice/kubernetes';
import { expect, test } from 'vitest';
import { readCurrentState } from './read-current-state.ts';

const key = { cluster: 'c', namespace: 'shop', service: 'web' };
const { signal } = new AbortController();

test('reads a Service, its Endpoints and its slices, with GET requests only', async () => {
  const asked: string[] = [];
  const state = await readCurrentState(
    {
      request: async ({ method, path }) => {
        asked.push(`${method} ${path}`);
        if (path.endsWith('/endpoints/web')) {
          throw new ApiError('not found', { kind: 'terminal', status: 404, reason: 'NotFound' });
        }
        const body = path.includes('endpointslices') ? { items: [{ metadata: { name: 'web-x' } }] } : { metadata: {} };
        return { status: 200, headers: {}, body };
      },
    },
    key,
    signal,
  );
  expect(state).toMatchObject({ services: [{}], endpoints: [], endpointslices: [{ metadata: { name: 'web-x' } }] });
  expect(asked).toEqual([
    'GET /api/v1/namespaces/shop/services/web',
    'GET /api/v1/namespaces/shop/endpoints/web',
    'GET /apis/discovery.k8s.io/v1/namespaces/shop/endpointslices?labelSelector=kubernetes.io%2Fservice-name%3Dweb',
  ]);
});

test('throws all other errors', async () => {
  const request = async () => {
    throw new ApiError('away', { kind: 'retry', status: 503, reason: 'ServiceUnavailable' });
  };
  await expect(readCurrentState({ request }, key, signal)).rejects.toThrow('away');
});
