import { expect, test } from 'vitest';
import type { ParkedKey } from '../fleet/parked-key.ts';
import { describeParked, listParked, parkedJson } from './print-parked.ts';
import { textFormatFor } from './text.ts';

const startedAt = new Date(2026, 0, 1, 3, 4, 5).getTime();
const wide = textFormatFor({}, startedAt + 60_000);
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
  expect(listParked([], wide)).toBe('No parked Services.\n');
  expect(listParked([key], wide)).toBe(
    'CLUSTER   NAMESPACE   SERVICE   CONTROLLER      SINCE      NEXT TRY         REASON\n' +
      'c         shop        web       endpointslice   03:04:05   on next change   forbidden\\u001b[31m\n',
  );
  expect(describeParked(key, wide)).toContain('Reason:      forbidden\\u001b[31m\n             by a webhook\n');
  expect(describeParked(key, wide)).toContain('Cause:       Pod shop/web-1 added, 03:04:05.000\n');
  expect(JSON.parse(parkedJson(key))).toMatchObject({ cluster: 'c', service: 'web', nextTryAt: null });
});

test('parked keys show the name of their cluster if it is known', () => {
  const named = { ...key, clusterName: 'west' };
  expect(listParked([named], wide)).toMatch(/^CLUSTER.*\nwest +shop/);
  expect(describeParked(named, wide)).toContain('Cluster:     west (c)\n');
});

test('in 60 columns, each parked key is a block of lines that fit', () => {
  const narrow = textFormatFor({ isTTY: true, columns: 60 }, startedAt);
  const reason = 'admission webhook "policy.example" denied the request: the label team is missing';
  const text = listParked([{ ...key, reason }, key], narrow);
  for (const line of text.split('\n')) expect(line.length, line).toBeLessThanOrEqual(60);
  expect(text).toContain(
    'Since:       03:04:05\nNext try:    on next change\nReason:      admission webhook "policy.example" denied the\n             request:',
  );
  for (const line of describeParked({ ...key, reason }, narrow).split('\n'))
    expect(line.length).toBeLessThanOrEqual(60);
});

test('a parked key is described with its causes and the next try', () => {
  expect(describeParked({ ...key, reason: 'forbidden', nextTryAt: startedAt + 30_000 }, wide)).toBe(
    'Cluster:     c\n' +
      'Service:     shop/web\n' +
      'Controller:  endpointslice\n' +
      'Since:       03:04:05\n' +
      'Next try:    03:04:35\n' +
      'Reason:      forbidden\n' +
      'Cause:       Pod shop/web-1 added, 03:04:05.000\n' +
      '             and 2 more\n',
  );
  const alone = { ...key, causes: { first: [], more: 0 } };
  expect(describeParked(alone, wide)).not.toMatch(/Cause|more/);
});

test('in JSON, times are in UTC', () => {
  const named = { ...key, clusterName: 'west', nextTryAt: startedAt + 1_000 };
  expect(JSON.parse(parkedJson(named))).toEqual({
    ...{ name: 'c/shop/web/endpointslice', cluster: 'c', namespace: 'shop', service: 'web', clusterName: 'west' },
    ...{ controller: 'endpointslice', reason: key.reason, causes: key.causes },
    ...{ since: new Date(startedAt).toISOString(), nextTryAt: new Date(startedAt + 1_000).toISOString() },
  });
  expect(parkedJson(key)).toMatch(/^\{.*\}\n$/);
});
