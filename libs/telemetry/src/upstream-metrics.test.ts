import { expect, test } from 'vitest';
import { Exposition } from './exposition.ts';
import { Instrument, ObservedInstrument } from './instruments.ts';
import { allMetrics, metricsTable } from './metrics-table.ts';
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
  const exposition = new Exposition();
  for (const [name, row] of Object.entries(allMetrics())) {
    const labels = Object.fromEntries(row.labels.map((label) => [label, 'x']));
    if (row.type === 'gauge')
      new ObservedInstrument(exposition.registry, name, row, undefined).add((report) => report(labels, 1));
    else if (row.type !== 'observed counter')
      new Instrument(exposition.registry, name, row, undefined).series(labels).add(1);
  }

  const { types, samples } = parseScrape(await exposition.text());
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

test('the buckets of work queues match client-go (I4)', () => {
  for (const which of ['queue', 'work'] as const) {
    const { buckets = [] } = metricsTable[`workqueue_${which}_duration_seconds`];
    const rounded = buckets.map((bound) => Number(bound.toPrecision(3)));
    expect(rounded).toEqual([1e-8, 1e-7, 1e-6, 1e-5, 1e-4, 1e-3, 1e-2, 0.1, 1, 10]);
  }
});
