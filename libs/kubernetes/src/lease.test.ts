import { expect, test } from 'vitest';
import { leaseRecord } from './lease.ts';

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
