import type { EndpointSliceCounts, MirroringCounts } from '@sluice/controllers';
import { watcherStarted } from '@sluice/messages';
import { allApplied } from '@sluice/service-state/testing';
import { beforeEach, describe, expect, test } from 'vitest';
import { aPlan, counted, create, ExportedMetrics, hinting } from './testing/exported-metrics.ts';

const staging = { cluster: 'staging' };
const slices = 'endpoint_slice_controller';
const mirroring = 'endpoint_slice_mirroring_controller';

let exported: ExportedMetrics;

beforeEach(() => {
  exported = new ExportedMetrics();
});

const remove = (name: string) => ({ verb: 'delete', resource: 'endpointslices', name }) as const;

describe('a sync of the EndpointSlice controller', () => {
  const syncs = () => exported.valuesOf(`${slices}_syncs`, { result: 'success' }, { result: 'error' });
  const perSync = () =>
    exported.values(
      [`${slices}_endpointslices_changed_per_sync_count`, `${slices}_endpointslices_changed_per_sync_sum`],
      { ...staging, topology: hinting.topology, traffic_distribution: hinting.trafficDistribution },
    );

  test('without writes ends with its decision', async () => {
    const counts: EndpointSliceCounts = { service: counted, addressTypes: [{ added: 5, removed: 4, changed: 0 }] };
    exported.decided('endpointslice', counts);
    const names = [`${slices}_endpoints_added_per_sync_sum`, `${slices}_endpoints_removed_per_sync_sum`];
    expect(await exported.values(names, staging)).toEqual([5, 4]);
    expect([await syncs(), await perSync()]).toEqual([
      [1, 0],
      [1, 0],
    ]);
  });

  test('fails if its decision does', async () => {
    exported.partition.decided('c/shop/web', 'endpointslice', undefined);
    expect(await syncs()).toEqual([0, 1]);
  });

  test('with writes ends with their Outcome', async () => {
    exported.decided('endpointslice', null, aPlan('endpointslice'));
    expect(await syncs()).toEqual([0, 0]);
    exported.completed('endpointslice', 'applied', {
      groups: [{ mutations: [create('a'), create('b')] }, { mutations: [remove('c')] }],
    });
    const changes = await exported.valuesOf(`${slices}_changes`, { operation: 'create' }, { operation: 'delete' });
    // One sync per address type.
    expect([await syncs(), changes, await perSync()]).toEqual([
      [1, 0],
      [2, 1],
      [2, 3],
    ]);
  });

  test.each([
    ['applied', false, [1, 0]],
    ['applied', true, [0, 1]],
    ['namespaceTerminating', false, [1, 0]],
    ['conflict', false, [0, 1]],
  ] as const)(
    'whose plan ends as %s counts as a success or a failure (incomplete: %s)',
    async (status, incomplete, counts) => {
      exported.completed('endpointslice', status, { incomplete });
      expect(await syncs()).toEqual(counts);
    },
  );

  test('of an address type counts its writes only if all were applied', async () => {
    const groups = [{ mutations: [create('a'), create('b')] }, { mutations: [create('c')] }];
    const [first, ...others] = allApplied(aPlan('endpointslice', groups));
    if (first === undefined) throw new Error('no result');
    exported.completed('endpointslice', 'conflict', { groups, results: [{ ...first, status: 'failed' }, ...others] });
    expect(await perSync()).toEqual([1, 1]);
    expect(await exported.values([`${slices}_changes`], { operation: 'create' })).toEqual([2]);
  });

  test('leaves out slices of address types that the Service does not have', async () => {
    const groups = [
      { mutations: [{ ...remove('a'), unsupportedAddressType: true } as const] },
      { mutations: [remove('b')] },
    ];
    exported.completed('endpointslice', 'applied', { groups });
    expect(await perSync()).toEqual([1, 1]);
  });

  test('of a clean-up has no hints', async () => {
    exported.completed('endpointslice', 'applied', { counted: null });
    const labels = { topology: 'Disabled', traffic_distribution: '' };
    expect(await exported.values([`${slices}_endpointslices_changed_per_sync_sum`], labels)).toEqual([1]);
  });
});

describe('a sync of the EndpointSliceMirroring controller', () => {
  const duration = () =>
    exported.values(
      [`${mirroring}_endpoints_sync_duration_count`, `${mirroring}_endpoints_sync_duration_sum`],
      staging,
    );
  const created = () => exported.values([`${mirroring}_changes`], { operation: 'create' });

  test('without writes takes no time', async () => {
    const service = { ...counted, hinting: null };
    const counts: MirroringCounts = { service, added: 1, updated: 2, removed: 3, skipped: 4 };
    exported.decided('endpointslicemirroring', counts);
    const names = ['endpoints_added', 'endpoints_updated', 'endpoints_removed', 'addresses_skipped'].map(
      (name) => `${mirroring}_${name}_per_sync_sum`,
    );
    expect(await exported.values(names, staging)).toEqual([1, 2, 3, 4]);
    expect(await duration()).toEqual([1, 0]);
  });

  test('with writes takes from the decision to the last response', async () => {
    exported.decided('endpointslicemirroring', null, aPlan('endpointslicemirroring'));
    expect(await duration()).toEqual([0, 0]);
    const groups = [{ mutations: [create('a'), create('b'), create('c')] }];
    const [first, ...others] = allApplied(aPlan('endpointslicemirroring', groups));
    if (first === undefined) throw new Error('no result');
    exported.completed('endpointslicemirroring', 'conflict', {
      groups,
      results: [{ ...first, status: 'failed' }, ...others],
    });
    expect([await duration(), await created()]).toEqual([[1, 2], [2]]);
  });

  test('that cleans up counts no changes (I3)', async () => {
    exported.completed('endpointslicemirroring', 'applied', { counted: null });
    expect([await duration(), await created()]).toEqual([[1, 2], [0]]);
  });

  test('is counted apart from those of the other controllers', async () => {
    exported.decided('endpoints', null);
    exported.completed('endpoints', 'applied');
    exported.decided('endpointslice', null);
    exported.completed('endpointslice', 'applied');
    expect([await duration(), await created()]).toEqual([[0, 0], [0]]);
    exported.completed('endpointslicemirroring', 'applied');
    expect(await exported.values([`${slices}_changes`, `${slices}_syncs`], { ...staging })).toEqual([1, 2]);
  });
});

describe('an applied plan', () => {
  const latency = { ...staging, controller: 'endpointslice' };
  const names = ['sluice_change_to_write_seconds_count', 'sluice_change_to_write_seconds_sum'];

  test('is as late as its earliest cause was before the last response', async () => {
    exported.completed('endpointslice', 'applied');
    expect(await exported.values(names, latency)).toEqual([1, 2.5]);
    expect(await exported.values(['sluice_trigger_to_applied_seconds_sum'], { cause: 'Pod' })).toEqual([2.5]);
  });

  test('counts the bytes that it sends to watchers, and what it compacts', async () => {
    exported.completed('endpointslice', 'applied', { fanoutBytes: 5_000, compaction: { removed: 2, moved: 9 } });
    const counters = ['slice_fanout_bytes', 'compaction_slices_removed', 'compaction_endpoints_moved'];
    const totals = counters.map((name) => `sluice_${name}_total`);
    expect(await exported.values(totals, staging)).toEqual([5_000, 2, 9]);
  });

  test.each([
    [
      'because a watcher started',
      'applied',
      { causes: { first: [{ description: watcherStarted, observedAt: 500 }], more: 0 } },
    ],
    ['without a known cause', 'applied', { causes: { first: [], more: 0 } }],
    ['that writes nothing', 'applied', { groups: [] }],
    ['that was not applied', 'conflict', {}],
  ] as const)('%s has no latency', async (_, status, given) => {
    exported.completed('endpointslice', status, { ...given, fanoutBytes: 5_000, compaction: { removed: 2, moved: 9 } });
    expect(await exported.values(names, latency)).toEqual([0, 0]);
    const triggered = await exported.values([
      'sluice_trigger_to_applied_seconds_count',
      'sluice_slice_fanout_bytes_total',
    ]);
    expect(triggered).toEqual([0, status === 'applied' ? 5_000 : 0]);
  });

  test('that writes nothing does not count as a plan with causes', async () => {
    exported.completed('endpointslice', 'applied', { groups: [] });
    exported.completed('endpointslice', 'conflict');
    expect(await exported.values(['sluice_plan_causes_count'])).toEqual([0]);
    exported.completed('endpointslice', 'applied');
    expect(await exported.values(['sluice_plan_causes_count'])).toEqual([1]);
  });
});
