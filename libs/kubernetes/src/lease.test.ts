import { describe, expect, test } from 'vitest';
import { LeaseClient, leasePath, leaseRecord } from './lease.ts';

test('the holder of a Lease, which any client may write, is cut to a length that a message can show', () => {
  const spec = {
    holderIdentity: `a${' '.repeat(300_000)}b`,
    renewTime: '2026-01-01T00:00:00Z',
    leaseDurationSeconds: 15,
  };
  const { holder, ...others } = leaseRecord({ metadata: { uid: 'u' }, spec });
  expect(holder).toHaveLength(512);
  expect(others).toEqual({
    acquireTime: '',
    isReleased: false,
    renewedAt: Date.parse('2026-01-01T00:00:00Z'),
    durationMs: 15_000,
    uid: 'u',
  });
});

describe('an answer about another object', () => {
  const wanted = { kind: 'Lease', metadata: { namespace: 'kube-system', name: 'sluice', uid: 'u' }, spec: {} };
  const clientOf = (body: unknown) =>
    new LeaseClient(
      { server: 'https://cluster.example.org', request: async () => ({ status: 200, headers: {}, body }) },
      leasePath('kube-system', 'sluice'),
    );
  const request = { signal: new AbortController().signal };

  test.each<[string, unknown]>([
    ['of a proxy', 'OK'],
    ['without metadata', {}],
    ['of another name', { ...wanted, metadata: { ...wanted.metadata, name: 'other' } }],
    ['of another namespace', { ...wanted, metadata: { ...wanted.metadata, namespace: 'other' } }],
    ['of another kind', { ...wanted, kind: 'ConfigMap' }],
  ])('is no Lease, held or free: %s', async (_, body) => {
    const invalid = { kind: 'retry', reason: 'InvalidAnswer' };
    await expect(clientOf(body).read(request)).rejects.toMatchObject(invalid);
    await expect(clientOf(body).write(wanted, request)).rejects.toMatchObject(invalid);
  });

  test('that has the name of the Lease is the Lease', async () => {
    expect(await clientOf(wanted).read(request)).toMatchObject({ lease: wanted });
    expect(await clientOf(wanted).write(wanted, request)).toBe(wanted);
  });
});
