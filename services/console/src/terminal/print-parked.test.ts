import { expect, test } from 'vitest';
import type { ParkedKey } from '../fleet/parked-key.ts';
import { describeParked, listParked, parkedJson } from './print-parked.ts';

const startedAt = Date.parse('2026-01-01T00:00:00Z');
const key: ParkedKey = {
  name: 'c/shop/web/endpointslice',
  key: { cluster: 'c', namespace: 'shop', service: 'web' },
  controller: 'endpointslice',
  reason: 'forbidden\u001b[31m\nby a webhook',
  since: startedAt,
  nextTryAt: null,
  causes: { first: [{ description: 'Pod shop/web-1 added', observedAt: startedAt }], more: 2 },
};

test('parked keys are printed without terminal control sequences', () => {
  expect(listParked([])).toBe('No parked Services.\n');
  expect(listParked([key])).toBe(
    'CLUSTER   NAMESPACE   SERVICE   CONTROLLER      SINCE                      NEXT TRY         REASON\n' +
      'c         shop        web       endpointslice   2026-01-01T00:00:00.000Z   on next change   forbidden\\x1b[31m\n',
  );
  expect(describeParked(key)).toContain('Reason:      forbidden\\x1b[31m\nby a webhook\n');
  expect(describeParked(key)).toContain('Cause:       Pod shop/web-1 added, 2026-01-01T00:00:00.000Z\n');
  expect(JSON.parse(parkedJson(key))).toMatchObject({ cluster: 'c', service: 'web', nextTryAt: null });
});

test('parked keys show the name of their cluster if it is known', () => {
  const named = { ...key, clusterName: 'west' };
  expect(listParked([named])).toMatch(/^CLUSTER.*\nwest +shop/);
  expect(describeParked(named)).toContain('Cluster:     west (c)\n');
});
