import { VirtualClock } from '@sluice/platform';
import { advance } from '@sluice/platform/testing';
import { expect, test } from 'vitest';
import { PendingClusters } from './pending-clusters.ts';

test('waits a minute for a cluster that other processes serve, and longer while a configured cluster is not connected', async () => {
  const clock = new VirtualClock(1_000);
  const pending = new PendingClusters(clock);
  expect(pending.mayConnect('c', true)).toBe(true);
  await advance(clock, 30_000);
  expect(pending.mayConnect('c', true)).toBe(true);
  await advance(clock, 31_000);
  expect(pending.mayConnect('c', false)).toBe(true);
  expect(pending.mayConnect('c', true)).toBe(false);
});

test('waits a minute after a cluster was removed, until other processes know, even while another is not connected', async () => {
  const clock = new VirtualClock(1_000);
  const pending = new PendingClusters(clock);
  pending.removed('c');
  await advance(clock, 30_000);
  expect(pending.mayConnect('c', true)).toBe(true);
  await advance(clock, 31_000);
  expect(pending.mayConnect('c', false)).toBe(false);
  pending.connected('c');
  expect(pending.mayConnect('c', true)).toBe(true);
});

test('waits again for a cluster that was removed and that another process serves again', async () => {
  const clock = new VirtualClock(1_000);
  const pending = new PendingClusters(clock);
  pending.removed('c');
  await advance(clock, 61_000);
  expect(pending.mayConnect('c', true)).toBe(true);
  await advance(clock, 30_000);
  expect(pending.mayConnect('c', false)).toBe(true);
  await advance(clock, 31_000);
  expect([pending.mayConnect('c', false), pending.mayConnect('c', true)]).toEqual([true, false]);
});
