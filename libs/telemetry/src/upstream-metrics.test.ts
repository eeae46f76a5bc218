import { expect, test } from 'vitest';
import { Metrics } from './metrics.ts';
import { parseScrape } from './testing/parse-scrape.ts';

const slices = 'endpoint_slice_controller';
const mirroring = 'endpoint_slice_mirroring_controller';
const powers = (first: number, count: number) => Array.from({ length: count }, (_, i) => first * 2 ** i);
const perSync = powers(2, 15);

/** Type, labels and buckets of each metric of the upstream controllers. */
const upstream: Readonly<Record<string, readonly [string, readonly string[], (readonly number[])?]>> = {
  [`${slices}_endpoints_added_per_sync`]: ['histogram', [], perSync],
  [`${slices}_endpoints_removed_per_sync`]: ['histogram', [], perSync],
  [`${slices}_endpoints_desired`]: ['gauge', []],
  [`${slices}_num_endpoint_slices`]: ['gauge', []],
  [`${slices}_desired_endpoint_slices`]: ['gauge', []],
  [`${slices}_changes`]: ['counter', ['operation']],
  [`${slices}_endpointslices_changed_per_sync`]: [
    'histogram',
    ['topology', 'traffic_distribution'],
    [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10],
  ],
  [`${slices}_syncs`]: ['counter', ['result']],
  [`${slices}_services_count_by_traffic_distribution`]: ['gauge', ['traffic_distribution']],
  [`${mirroring}_endpoints_added_per_sync`]: ['histogram', [], perSync],
  [`${mirroring}_endpoints_updated_per_sync`]: ['histogram', [], perSync],
  [`${mirroring}_endpoints_removed_per_sync`]: ['histogram', [], perSync],
  [`${mirroring}_addresses_skipped_per_sync`]: ['histogram', [], perSync],
  [`${mirroring}_endpoints_sync_duration`]: ['histogram', [], powers(0.001, 15)],
  [`${mirroring}_endpoints_desired`]: ['gauge', []],
  [`${mirroring}_num_endpoint_slices`]: ['gauge', []],
  [`${mirroring}_desired_endpoint_slices`]: ['gauge', []],
  [`${mirroring}_changes`]: ['counter', ['operation']],
};

test('names, types, labels and buckets of the metrics of the controllers are those of upstream; Endpoints have none (I4)', async () => {
  const metrics = new Metrics({ clusters: new Map(), process: false });
  const service = { endpoints: 1, slices: 1, desiredSlices: 1 };
  const hinting = { topology: 'Disabled', trafficDistribution: 'PreferClose' } as const;
  const { endpointSlice, mirroring } = metrics;
  endpointSlice.gauges.replace('c', null, { ...service, hinting });
  endpointSlice.decided('c', {
    of: 'endpointslice',
    service: { ...service, hinting },
    addressTypes: [{ added: 1, removed: 0, changed: 0 }],
  });
  endpointSlice.written('c', 'create');
  endpointSlice.synced('c', 'success');
  mirroring.gauges.replace('c', null, { ...service, hinting: null });
  mirroring.decided('c', {
    ...{ of: 'endpointslicemirroring', service: { ...service, hinting: null } },
    ...{ added: 1, updated: 0, removed: 0, skipped: 0 },
  });
  mirroring.written('c', 'create');
  mirroring.synced('c', 1);

  const { types, samples } = parseScrape(await metrics.text());
  const exposed = [...types].filter(([name]) => name.startsWith('endpoint'));
  const described = exposed.map(([name, type]) => {
    const of = samples.filter((sample) => [name, `${name}_bucket`, `${name}_count`].includes(sample.name));
    const labels = new Set(of.flatMap((sample) => Object.keys(sample.labels)));
    labels.delete('le');
    const buckets = of.flatMap((sample) => (sample.labels.le === undefined ? [] : [Number(sample.labels.le)]));
    const finite = buckets.filter(Number.isFinite);
    return [name, type === 'histogram' ? [type, [...labels].sort(), finite] : [type, [...labels]]] as const;
  });
  expect(Object.fromEntries(described)).toEqual(upstream);
});
