import { seededRandom, VirtualClock } from '@sluice/platform';
import { beforeEach, expect, test } from 'vitest';
import { SimulatedCluster } from '../simulated-cluster.ts';
import { type Disturbance, HeldBack } from './held-back.ts';

let clock: VirtualClock;
let cluster: SimulatedCluster;
let disturbance: Disturbance;
let heldBack: HeldBack;

beforeEach(() => {
  clock = new VirtualClock(1_000);
  cluster = new SimulatedCluster(0, clock, 1, { namespaces: 1 });
  disturbance = { since: 0, until: 0 };
  heldBack = new HeldBack(
    () => clock.now(),
    () => disturbance,
  );
  heldBack.watch(cluster);
});

const isExplained = (guard: 'additions' | 'removals', why: string): boolean =>
  heldBack.isExplained(`${guard} held back; the cluster does not confirm them`, {
    cluster: cluster.name,
    reason: `1 new address would be added, but ${why}`,
  });

test('a request that a fault lets fail explains it', () => {
  const why = 'the cluster cannot confirm it: namespaces "elsewhere" not found';
  expect(isExplained('removals', why)).toBe(false);
  expect(isExplained('removals', 'the cluster cannot confirm it: injected')).toBe(true);
  disturbance = { since: 0, until: 1_000 };
  expect(isExplained('removals', why)).toBe(true);
});

test('a recent change of the object that contradicts an addition explains it', () => {
  expect(isExplained('additions', 'Pod steady-a-pod0 does not exist')).toBe(false);
  cluster.server.delete('pods', 'steady', 'steady-a-pod0');
  clock.skipTo(6_000);
  expect(isExplained('additions', 'Pod steady-a-pod0 does not exist')).toBe(true);
  expect(isExplained('additions', 'Pod steady-a-pod1 does not exist')).toBe(false);
  expect(isExplained('removals', 'Pod steady-a-pod0 exists and is ready')).toBe(false);
  clock.skipTo(6_001);
  expect(isExplained('additions', 'Pod steady-a-pod0 does not exist')).toBe(false);
});

test('a change during faults that delay the cluster is recent', () => {
  cluster.server.delete('pods', 'steady', 'steady-a-pod0');
  clock.skipTo(60_000);
  disturbance = { since: 6_001, until: 60_000 };
  expect(isExplained('additions', 'Pod steady-a-pod0 does not exist')).toBe(false);
  disturbance = { since: 6_000, until: 60_000 };
  expect(isExplained('additions', 'Pod steady-a-pod0 does not exist')).toBe(true);
});

test('the selector of a Service may have changed instead of its Pods', () => {
  expect(isExplained('additions', 'Pod steady-a-pod0 is not selected')).toBe(false);
  cluster.flipSteady(seededRandom(1));
  cluster.server.delete('services', 'steady', 'steady-a');
  expect(isExplained('additions', 'Pod steady-a-pod0 is not selected')).toBe(true);
});
