import type { CountedSlices, EndpointSliceCounts, MirroringCounts } from '@sluice/controllers';
import { beforeEach, describe, expect, test } from 'vitest';
import { aPlan, counted, ExportedMetrics } from './testing/exported-metrics.ts';

const [web, db] = ['c/shop/web', 'c/shop/db'];
const slices = 'endpoint_slice_controller';
const mirroring = 'endpoint_slice_mirroring_controller';

let exported: ExportedMetrics;

beforeEach(() => {
  exported = new ExportedMetrics();
});

const ofSlices = (service: CountedSlices): EndpointSliceCounts => ({ service, addressTypes: [] });

const ofMirroring = (endpoints: number): MirroringCounts => ({
  service: { ...counted, endpoints, hinting: null },
  ...{ added: 0, updated: 0, removed: 0, skipped: 0 },
});

const restored = { counted, deciding: false, parked: false };

describe('the work queue', () => {
  const queue = { name: 'endpoint_slice' };

  test.each([
    ['endpoints', 'endpoint'],
    ['endpointslice', 'endpoint_slice'],
    ['endpointslicemirroring', 'endpoint_slice_mirroring'],
  ] as const)('of %s has the name %s, as in kube-controller-manager', async (controller, name) => {
    exported.partition.due(web, controller);
    exported.partition.parked(web, controller, true);
    expect(await exported.values(['workqueue_depth'], { name })).toEqual([1]);
    expect(await exported.values(['sluice_parked_services'], { controller })).toEqual([1]);
  });

  test('has a key from when it is due until it is decided', async () => {
    const { partition, clock } = exported;
    partition.due(web, 'endpointslice');
    expect(await exported.values(['workqueue_adds_total', 'workqueue_depth'], queue)).toEqual([1, 1]);
    clock.skipTo(clock.now() + 2_000);
    partition.deciding(web, 'endpointslice');
    const names = ['workqueue_depth', 'workqueue_queue_duration_seconds_sum', 'workqueue_work_duration_seconds_count'];
    expect(await exported.values(names, queue)).toEqual([0, 2, 0]);
    exported.decided('endpointslice', null);
    expect(await exported.values(names, queue)).toEqual([0, 2, 1]);
  });

  test('works on a key with a plan until the Outcome arrives', async () => {
    const { partition, clock } = exported;
    partition.deciding(web, 'endpointslice');
    exported.decided('endpointslice', null, aPlan('endpointslice'));
    clock.skipTo(clock.now() + 3_000);
    const names = ['workqueue_unfinished_work_seconds', 'workqueue_work_duration_seconds_sum'];
    expect(await exported.values(names, queue)).toEqual([3, 0]);
    exported.completed('endpointslice', 'applied');
    expect(await exported.values(names, queue)).toEqual([0, 3]);
  });

  test('measures a plan in flight from the takeover of its partition', async () => {
    const { partition, clock } = exported;
    partition.restored(web, 'endpointslice', { ...restored, deciding: true });
    partition.restored(db, 'endpointslice', restored);
    clock.skipTo(clock.now() + 4_000);
    expect(await exported.values(['workqueue_unfinished_work_seconds'], queue)).toEqual([4]);
  });

  test.each([
    ['applied', 0],
    ['namespaceTerminating', 0],
    ['conflict', 1],
    ['unavailable', 1],
    ['rejected', 1],
  ] as const)('counts a plan that completes as %s as %d retries', async (status, retries) => {
    exported.completed('endpointslice', status);
    expect(await exported.values(['workqueue_retries_total'], queue)).toEqual([retries]);
    const labels = { cluster: 'staging', controller: 'endpointslice', status };
    expect(await exported.values(['sluice_plans_total'], labels)).toEqual([1]);
  });

  test('forgets a dropped key, and all keys when the partition closes', async () => {
    const { partition, clock } = exported;
    for (const key of [web, db]) partition.deciding(key, 'endpointslice');
    clock.skipTo(clock.now() + 1_000);
    partition.dropped(web);
    expect(await exported.values(['workqueue_unfinished_work_seconds'], queue)).toEqual([1]);
    partition.close();
    expect(await exported.values(['workqueue_unfinished_work_seconds'], queue)).toEqual([0]);
  });
});

describe('the gauges', () => {
  const gaugesOf = (subsystem: string) =>
    exported.values(
      ['endpoints_desired', 'num_endpoint_slices', 'desired_endpoint_slices'].map((name) => `${subsystem}_${name}`),
      { cluster: 'staging' },
    );

  test('are sums over the Services of a cluster, by their last decisions (I1)', async () => {
    for (const key of [web, db, 'other/shop/web']) exported.partition.restored(key, 'endpointslice', restored);
    expect(await gaugesOf(slices)).toEqual([60, 6, 4]);
    exported.decided('endpointslice', ofSlices({ ...counted, endpoints: 10, slices: 1, desiredSlices: 1 }));
    expect(await gaugesOf(slices)).toEqual([40, 4, 3]);
  });

  test('keep their values if a decision fails, and leave out a Service that is no longer handled', async () => {
    exported.decided('endpointslice', ofSlices(counted));
    exported.partition.decided(web, 'endpointslice', undefined);
    expect(await gaugesOf(slices)).toEqual([30, 3, 2]);
    exported.decided('endpointslice', null);
    expect(await gaugesOf(slices)).toEqual([0, 0, 0]);
  });

  test('are kept apart by controller; Endpoints have none (I4)', async () => {
    exported.decided('endpointslice', ofSlices(counted));
    exported.decided('endpointslicemirroring', ofMirroring(7));
    exported.partition.restored(web, 'endpoints', restored);
    expect([await gaugesOf(slices), await gaugesOf(mirroring)]).toEqual([
      [30, 3, 2],
      [7, 3, 2],
    ]);
  });

  test.each(['dropped', 'close'] as const)('leave out what is left behind (%s)', async (end) => {
    exported.decided('endpointslice', ofSlices(counted));
    exported.decided('endpointslicemirroring', ofMirroring(7));
    exported.partition[end](web);
    expect([await gaugesOf(slices), await gaugesOf(mirroring)]).toEqual([
      [0, 0, 0],
      [0, 0, 0],
    ]);
  });

  test('count each parked Service until it is active again, dropped or handed over', async () => {
    const { partition } = exported;
    const parked = () => exported.values(['sluice_parked_services'], { controller: 'endpointslice' });
    for (const name of ['a', 'b', 'c']) partition.parked(`c/shop/${name}`, 'endpointslice', true);
    partition.restored('c/shop/d', 'endpointslice', { ...restored, parked: true });
    partition.parked('c/shop/a', 'endpoints', false);
    expect(await parked()).toEqual([4]);
    partition.parked('c/shop/a', 'endpointslice', false);
    partition.dropped('c/shop/b');
    expect(await parked()).toEqual([2]);
    partition.close();
    expect(await parked()).toEqual([0]);
  });
});

test('messages, digest mismatches, foreign writes and proofs of a restore are counted', async () => {
  const { partition } = exported;
  for (const kind of ['change', 'change', 'outcome'] as const) partition.applied(kind);
  partition.digestMismatch(['pods']);
  partition.foreignWrites(web, 'endpointslice', 3);
  partition.restoreProven(web);
  expect(await exported.valuesOf('sluice_messages_processed_total', { kind: 'change' }, { kind: 'outcome' })).toEqual([
    2, 1,
  ]);
  expect(await exported.values(['sluice_state_digest_mismatches_total'], { part: 'pods' })).toEqual([1]);
  const names = ['sluice_foreign_slice_writes_total', 'sluice_cluster_restore_proofs_total'];
  expect(await exported.values(names, { cluster: 'staging' })).toEqual([3, 1]);
});
