import { MemoryBus } from '@sluice/bus';
import { encodeMessage, formatServiceKey } from '@sluice/messages';
import { aService } from '@sluice/model/testing';
import { seededRandom, silentLogger, VirtualClock } from '@sluice/platform';
import { advance } from '@sluice/platform/testing';
import { reconcilerMetrics, runReconciler } from '@sluice/reconciler';
import { defaultSettings } from '@sluice/service-state';
import { MemoryStore } from '@sluice/store';
import { Metrics } from '@sluice/telemetry';
import { parseScrape, sampleOf } from '@sluice/telemetry/testing';
import { expect, test } from 'vitest';

const clock = new VirtualClock(1_000);
const key = { cluster: 'c', namespace: 'shop', service: 'web' };
const causes = { first: [], more: 0 };

const service = aService({ ipFamilies: ['IPv4', 'IPv6'], ports: [], trafficDistribution: 'PreferClose' });

test('the owner of a partition exports its share of the gauges (I1)', async () => {
  const bus = new MemoryBus({ partitions: 1 });
  const store = new MemoryStore();
  const versions = { endpoints: '9', endpointslices: '9' };
  const change = {
    kind: 'change',
    key,
    stamp: { epoch: 1, sequence: 1 },
    facts: [{ kind: 'service', service }],
    resourceVersions: versions,
    snapshot: { first: true, last: true, initial: true, resourceVersions: versions },
    causes,
  } as const;
  await bus.append('changes', 0, [
    { key: formatServiceKey(key), id: '1', headers: {}, payload: encodeMessage(change) },
  ]);
  const one = owner(bus, store, 1);
  await advance(clock, 0);
  // A plan of each controller that has something to write is in flight.
  expect(await one.gauges()).toEqual({ slices: 2, desired: 2, preferClose: 1, running: 2 });
  await one.stop();
  expect(await one.gauges()).toEqual({ slices: 0, desired: 0, preferClose: 0, running: 0 });
  const two = owner(bus, store, 2);
  await advance(clock, 0);
  expect(await two.gauges()).toEqual({ slices: 2, desired: 2, preferClose: 1, running: 2 });
  await two.stop();
});

function owner(bus: MemoryBus, store: MemoryStore, epoch: number) {
  const metrics = new Metrics({ clusters: new Map([['c', 'staging']]), process: false });
  const stop = new AbortController();
  const ports = { bus, store, clock, random: seededRandom(1), logger: silentLogger };
  const settings = { ...defaultSettings };
  const options = {
    ...ports,
    fencingToken: epoch,
    settings,
    partitions: [0],
    metrics: reconcilerMetrics(metrics, clock),
  };
  const running = runReconciler(options, stop.signal);
  return {
    async gauges() {
      clock.skipTo(clock.now() + 1_000);
      const scrape = parseScrape(await metrics.text());
      const value = (name: string, labels = {}) => sampleOf(scrape, name, labels);
      const unfinished = ['endpoint', 'endpoint_slice', 'endpoint_slice_mirroring'].filter(
        (name) => value('workqueue_unfinished_work_seconds', { name }) > 0,
      );
      return {
        slices: value('endpoint_slice_controller_num_endpoint_slices'),
        desired: value('endpoint_slice_controller_desired_endpoint_slices'),
        preferClose: value('endpoint_slice_controller_services_count_by_traffic_distribution', {
          traffic_distribution: 'PreferClose',
        }),
        running: unfinished.length,
      };
    },
    stop() {
      stop.abort();
      return running;
    },
  };
}
