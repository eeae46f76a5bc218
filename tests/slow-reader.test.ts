import { streamStart } from '@sluice/bus';
import { FakeApiServer, FakeClient, populate } from '@sluice/fake-apiserver';
import { seededRandom, silentLogger, VirtualClock } from '@sluice/platform';
import { advance } from '@sluice/platform/testing';
import { runReconciler } from '@sluice/reconciler';
import { defaultSettings } from '@sluice/service-state';
import { MemoryStore } from '@sluice/store';
import { ClusterWatcher } from '@sluice/watcher';
import { defaultRetry, runWriter, unlimited } from '@sluice/writer';
import { expect, test } from 'vitest';
import { DiscardingBus } from './harness/discarding-bus.ts';

const kibibyte = 1024;
const services = 60;
const podsPerService = 20;

test('a resync that is larger than the log ends, although the reader is slow', async () => {
  const clock = new VirtualClock(Date.parse('2026-01-01T00:00:00Z'));
  const server = new FakeApiServer({ clock, random: seededRandom(1), bookmarkIntervalMs: 0 });
  populate(server, { services, podsPerService });
  const bus = new DiscardingBus({
    ...{ partitions: 1, clock, limits: { recordBytes: 100 * kibibyte, messageBytes: 1_000 * kibibyte } },
    ...{ partitionBytes: 150 * kibibyte, bytesPerSecond: 300 * kibibyte },
  });
  const cluster = new FakeClient(server, { clock });
  const stop = new AbortController();
  const ports = { clock, random: seededRandom(2), logger: silentLogger, bus, fencingToken: 1 };
  const work = { ...ports, store: new MemoryStore(), partitions: [0] };
  const watcher = new ClusterWatcher({ ...ports, cluster: server.identity, reader: cluster });
  const writable = { writer: cluster, limit: unlimited, record: () => {} };
  const running = [
    watcher.run(stop.signal),
    runReconciler({ ...work, settings: defaultSettings }, stop.signal),
    runWriter({ ...work, cluster: () => writable, retry: defaultRetry, requestSignal: stop.signal }, stop.signal),
  ];
  await advance(clock, 2 * 60_000);
  expect(server.list('endpointslices').items).toHaveLength(services);
  const requests = (await bus.end('requests', 0)).offset;
  // The resyncs end: later ones are repairs of what the first ones lost, not of each other.
  await advance(clock, 10 * 60_000);
  expect((await bus.end('requests', 0)).offset).toBe(requests);
  expect((await bus.beginning('changes', 0)).offset).toBeGreaterThan(streamStart.offset);
  stop.abort();
  await bus.close();
  await advance(clock, 60_000);
  await Promise.allSettled(running);
});
