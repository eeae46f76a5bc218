import { expect, test } from 'vitest';
import { ApiError } from '../api-error.ts';
import { chainWriter } from '../middleware.ts';
import { meterRequests } from './meter-requests.ts';

const { signal } = new AbortController();
const written = { name: 'web', uid: 'u', resourceVersion: '1', generation: 1 };
const object = { metadata: { name: 'web', namespace: 'shop' } };

test('each response is reported, failures with their status', async () => {
  const responses: unknown[] = [];
  const refused = new ApiError('slow down', { kind: 'retry', status: 429, reason: 'TooManyRequests' });
  const writer = chainWriter(
    {
      get: () => Promise.reject(new TypeError('bug')),
      create: async () => written,
      update: () => Promise.reject(refused),
      delete: async () => {},
    },
    meterRequests((...response) => responses.push(response)),
  );
  expect(await writer.create('endpointslices', object, signal)).toBe(written);
  await expect(writer.update('endpoints', object, signal)).rejects.toBe(refused);
  await expect(writer.get('pods', 'shop', 'web', signal)).rejects.toThrow('bug');
  await writer.delete('endpoints', 'shop', 'web', {}, signal);
  expect(responses).toEqual([
    ['create', 'endpointslices', null],
    ['update', 'endpoints', 429],
    ['delete', 'endpoints', null],
  ]);
});
