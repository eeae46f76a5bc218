import { ApiError, type ClusterWriter } from '@sluice/kubernetes';
import { expect, test } from 'vitest';
import { meteredWriter } from './metered-writer.ts';

const signal = new AbortController().signal;
const refused = new ApiError('no', { reaction: 'terminal', status: 403, reason: 'Forbidden' });

test('reports the status of each response and passes it through unchanged', async () => {
  const answers: unknown[] = [];
  const object = { metadata: { name: 'web' } };
  const inner: ClusterWriter = {
    get: async () => object,
    create: () => Promise.reject(refused),
    update: () => Promise.reject(new TypeError('a bug')),
    delete: async () => {},
  };
  const writer = meteredWriter(inner, (...answer) => answers.push(answer));
  expect(await writer.get('endpoints', 'shop', 'web', signal)).toBe(object);
  await expect(writer.create('endpointslices', {} as never, signal)).rejects.toBe(refused);
  await expect(writer.update('endpoints', {} as never, signal)).rejects.toThrow('a bug');
  await writer.delete('endpointslices', 'shop', 'web', {}, signal);
  expect(answers).toEqual([
    ['get', 'endpoints', null],
    ['create', 'endpointslices', 403],
    ['delete', 'endpointslices', null],
  ]);
});
