import { VirtualClock } from '@sluice/platform';
import { advance } from '@sluice/platform/testing';
import { expect, test } from 'vitest';
import { ApiError, type ApiRequest } from '../index.ts';
import { probeControllers } from './probe-controllers.ts';

const root = '/api/v1/namespaces/default';
const sliceRoot = '/apis/discovery.k8s.io/v1/namespaces/default/endpointslices';

/** Probes a cluster in which `controller` sees each created object and returns what it writes for it: path and manager. */
async function probe(controller: (path: string) => readonly [string, string] | undefined, refuses = '') {
  const objects = new Map<string, object>();
  const requests: string[] = [];
  const clock = new VirtualClock();
  const write = (path: string, manager: string) => {
    const name = path.slice(path.lastIndexOf('/') + 1);
    objects.set(path, {
      kind: path.startsWith(sliceRoot) ? 'EndpointSlice' : 'Endpoints',
      metadata: { name, managedFields: [{ manager }] },
    });
  };
  const request = async ({ method, path, body }: ApiRequest) => {
    if (method !== 'GET') requests.push(`${method} ${path}`);
    const answer = (found: unknown) => ({ status: 200, headers: {}, body: found });
    if (method === 'POST') {
      const created = `${path}/${(body as { metadata: { name: string } }).metadata.name}`;
      if (created === refuses) throw new ApiError('no', { kind: 'terminal', status: 403, reason: 'Forbidden' });
      objects.set(created, { metadata: { managedFields: [{ manager: 'kubectl' }] } });
      const written = controller(created);
      if (written !== undefined) write(...written);
      return answer({});
    }
    if (method === 'DELETE') {
      if (!objects.delete(path)) throw new ApiError('gone', { kind: 'terminal', status: 404, reason: 'NotFound' });
      return answer({});
    }
    const query = path.indexOf('?');
    if (query >= 0) {
      const items = [...objects].filter(([at]) => at.startsWith(sliceRoot)).map(([, object]) => object);
      expect(new URLSearchParams(path.slice(query)).get('labelSelector')).toContain('(p,p-mirrored)');
      return answer({ kind: 'EndpointSliceList', items });
    }
    const object = objects.get(path);
    if (object === undefined) throw new ApiError('gone', { kind: 'terminal', status: 404, reason: 'NotFound' });
    return answer(object);
  };
  const options = { connection: { request }, ownManager: 'sluice', namespace: 'default', name: 'p', clock };
  const probing = probeControllers(options as Parameters<typeof probeControllers>[0], new AbortController().signal);
  probing.catch(() => {});
  await advance(clock, 20_000);
  return { found: probing, requests };
}

const created = [`POST ${root}/services`, `POST ${root}/services`, `POST ${root}/endpoints`];
const deleted = [
  `DELETE ${root}/endpoints/p-mirrored`,
  `DELETE ${root}/services/p-mirrored`,
  `DELETE ${root}/services/p`,
];

test.each([
  ['EndpointSlice', `${root}/services/p`, `${sliceRoot}/p-x1`, 'EndpointSlice default/p-x1'],
  ['Endpoints', `${root}/services/p`, `${root}/endpoints/p`, 'Endpoints default/p'],
  [
    'EndpointSliceMirroring',
    `${root}/endpoints/p-mirrored`,
    `${sliceRoot}/p-mirrored-x1`,
    'EndpointSlice default/p-mirrored-x1',
  ],
])('finds the %s controller and deletes everything', async (_, sees, writes, what) => {
  const { found, requests } = await probe((path) => (path === sees ? [writes, 'kube-controller-manager'] : undefined));
  expect(await found).toBe(`kube-controller-manager wrote ${what}`);
  expect(requests).toEqual([...created, ...deleted]);
});

test('finds nobody where only Sluice writes, and deletes everything', async () => {
  const { found, requests } = await probe((path) =>
    path.endsWith('services/p') ? [`${sliceRoot}/p-x1`, 'sluice'] : undefined,
  );
  expect(await found).toBeUndefined();
  expect(requests).toEqual([...created, ...deleted]);
});

test('deletes what it has created if a request is rejected', async () => {
  const { found, requests } = await probe(() => undefined, `${root}/endpoints/p-mirrored`);
  await expect(found).rejects.toThrow('no');
  expect(requests).toEqual([...created, ...deleted.slice(1)]);
});
