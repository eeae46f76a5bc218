import { FakeApiServer, FakeClient } from '@sluice/fake-apiserver';
import type { Cluster } from '@sluice/fleet/clusters';
import { seededRandom, VirtualClock } from '@sluice/platform';
import { type RecordingLogger, recordingLogger } from '@sluice/platform/testing';
import { Metrics } from '@sluice/telemetry';
import type { ClosableCluster } from '@sluice/writer';
import { beforeEach, expect, test } from 'vitest';
import { writable } from './writable-cluster.ts';

let clock: VirtualClock;
let metrics: Metrics;
let logger: RecordingLogger;
let cluster: ClosableCluster;
let served: Cluster;

beforeEach(() => {
  clock = new VirtualClock(Date.parse('2026-01-01T00:00:00Z'));
  metrics = new Metrics({ clusters: new Map([['uid-1', 'production']]), fleet: true });
  logger = recordingLogger();
  const server = new FakeApiServer({ clock, random: seededRandom(1) });
  const client = new FakeClient(server, { clock });
  served = { name: 'production', identity: 'uid-1', reader: client, writer: client, record: () => {} };
  cluster = writable(served, { clock, logger, metrics, limits: { maxInFlight: 8 } });
});

const metric = async (name: string): Promise<readonly string[]> =>
  (await metrics.text()).split('\n').filter((line) => line.startsWith(name));

test('exposes its concurrency limit until it is closed, then that of its successor', async () => {
  expect(await metric('sluice_write_concurrency_limit{')).toEqual([
    'sluice_write_concurrency_limit{cluster="production"} 8',
  ]);
  cluster.close();
  expect(await metric('sluice_write_concurrency_limit{')).toEqual([]);
});

test('limits retries and the requests of each controller if configured, and counts delayed retries', async () => {
  expect(cluster).toMatchObject({ retryLimit: undefined, controllerLimits: {} });
  const limits = { maxRetriesPerSecond: 1, concurrentEndpointSyncs: 5, mirroringConcurrentServiceEndpointSyncs: 1 };
  cluster = writable(served, { clock, logger, metrics, limits });
  expect(Object.keys(cluster.controllerLimits ?? {})).toEqual(['endpoints', 'endpointslicemirroring']);
  for (let i = 0; i < 13; i++) cluster.retryLimit?.reserve();
  expect(await metric('sluice_write_retries_delayed_total{')).toEqual([
    'sluice_write_retries_delayed_total{cluster="production"} 3',
  ]);
});

test('held-back removals are each counted, and logged as an error once a minute', async () => {
  cluster.massChangeGuards?.[0]?.recordCheck('confirmed', '');
  for (let i = 0; i < 3; i++) cluster.massChangeGuards?.[0]?.recordCheck('refuted', 'Pod p is ready');
  expect(await metric('sluice_mass_removal_checks_total{')).toEqual([
    'sluice_mass_removal_checks_total{cluster="production",result="confirmed"} 1',
    'sluice_mass_removal_checks_total{cluster="production",result="refuted"} 3',
  ]);
  expect(logger.lines).toEqual([
    {
      level: 'error',
      message: 'removals held back; the cluster does not confirm them',
      fields: { cluster: 'production', reason: 'Pod p is ready' },
    },
  ]);
  clock.step(clock.now() + 61_000);
  cluster.massChangeGuards?.[0]?.recordCheck('unknown', 'forbidden');
  expect(logger.lines).toHaveLength(2);
});

test('a competing write is counted and logged with its manager', async () => {
  const key = { cluster: 'uid-1', namespace: 'shop', service: 'web' };
  const causes = { first: [], more: 0 };
  const plan = { kind: 'mutations', key, controller: 'endpointslice', plan: { epoch: 1, number: 1 } } as const;
  const rest = { groups: [], events: [], incomplete: [], serviceUid: '', causes, decidedAt: 0, consecutiveRepairs: 6 };
  cluster.competingControllers?.onCompetingWrite(
    { ...plan, ...rest },
    { object: 'endpointslices shop/web-1', manager: 'mesh', at: 'then' },
  );
  expect(logger.lines).toMatchObject([
    { fields: { key: 'uid-1/shop/web', object: 'endpointslices shop/web-1', manager: 'mesh', times: 6 } },
  ]);
  cluster.competingControllers?.onCompetingWrite(
    { ...plan, ...rest, consecutiveRepairs: 1 },
    { object: 'endpointslices shop/web-2', isReplacement: true },
  );
  expect(logger.lines.at(-1)?.fields).toEqual({
    ...{ cluster: 'production', key: 'uid-1/shop/web', controller: 'endpointslice' },
    ...{ replacement: 'endpointslices shop/web-2', manager: 'unknown' },
  });
  expect(await metric('sluice_competing_controller_plans_total{')).toEqual([
    'sluice_competing_controller_plans_total{cluster="production",controller="endpointslice"} 1',
  ]);
});

test('the first proven foreign write is logged with its writer; only kube-controller-manager counts as competing', async () => {
  const key = { cluster: 'uid-1', namespace: 'shop', service: 'web' };
  const identity = { kind: 'mutations', key, controller: 'endpointslice', plan: { epoch: 1, number: 1 } } as const;
  const rest = { groups: [], events: [], incomplete: [], serviceUid: '', causes: { first: [], more: 0 }, decidedAt: 0 };
  const repair = (manager: string) =>
    cluster.competingControllers?.onCompetingWrite(
      { ...identity, ...rest, consecutiveRepairs: 1 },
      { object: 'endpointslices shop/web-1', manager, at: new Date(clock.now()).toISOString() },
    );
  repair('kubectl-edit');
  const line = { level: 'info', message: 'another client wrote a managed object; repairing it' };
  expect(logger.lines).toMatchObject([{ ...line, fields: { manager: 'kubectl-edit', controller: 'endpointslice' } }]);
  expect(await metric('sluice_competing_controller_plans_total{')).toEqual([]);
  repair('kube-controller-manager');
  expect(logger.lines.slice(1)).toMatchObject([{ level: 'error' }, line]);
  expect(await metric('sluice_competing_controller_plans_total{')).toEqual([
    'sluice_competing_controller_plans_total{cluster="production",controller="endpointslice"} 1',
  ]);
});

test('a conflict with kube-controller-manager is named at once, with how to disable it, and logged once a minute', async () => {
  const key = { cluster: 'uid-1', namespace: 'shop', service: 'web' };
  const causes = { first: [], more: 0 };
  const identity = { kind: 'mutations', key, controller: 'endpointslice', plan: { epoch: 1, number: 1 } } as const;
  const plan = { ...identity, groups: [], events: [], incomplete: [], serviceUid: '', causes, decidedAt: 0 };
  const object = 'endpointslices shop/web-1';
  const conflict = (manager: string, at = new Date(clock.now()).toISOString()) =>
    cluster.competingControllers?.onConflict?.(plan, { object, manager, at });
  conflict('kubectl-patch');
  conflict('kube-controller-manager', new Date(clock.now() - 3_600_000).toISOString());
  expect(logger.lines).toEqual([]);
  for (let i = 0; i < 3; i++) conflict('kube-controller-manager');
  expect(logger.lines).toMatchObject([
    {
      message: 'another controller writes the same objects',
      fields: {
        cluster: 'production',
        object,
        manager: 'kube-controller-manager',
        advice: expect.stringContaining('-endpoints-controller'),
      },
    },
  ]);
  expect(await metric('sluice_competing_controller_plans_total{')).toEqual([
    'sluice_competing_controller_plans_total{cluster="production",controller="endpointslice"} 3',
  ]);
  expect(cluster.competingControllers?.investigatesConflict?.()).toBe(true);
  expect(cluster.competingControllers?.investigatesConflict?.()).toBe(false);
});
