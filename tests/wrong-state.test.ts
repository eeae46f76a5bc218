import type { Bus, BusRecord } from '@sluice/bus';
import { FakeApiServer, populate } from '@sluice/fake-apiserver';
import { type Change, decodeMessage, encodeMessage } from '@sluice/messages';
import { seededRandom, VirtualClock } from '@sluice/platform';
import { advance } from '@sluice/platform/testing';
import { reconcilerMetrics } from '@sluice/reconciler';
import { Metrics } from '@sluice/telemetry';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { slicesOf } from './harness/expected-endpoints.ts';
import { type Fleet, startFleet } from './harness/fleet.ts';

const comparePeriodMs = 60_000;
const services = 8;
let clock: VirtualClock;
let server: FakeApiServer;
let population: ReturnType<typeof populate>;
let metrics: Metrics;
let fleet: Fleet;
/** Silently corrupts a Change on the bus. */
let corrupt: (change: Change) => Change;
let published: number;

beforeEach(async () => {
  clock = new VirtualClock(Date.parse('2026-01-01T00:00:00Z'));
  server = new FakeApiServer({ clock, random: seededRandom(1), bookmarkIntervalMs: 0 });
  population = populate(server, { services, podsPerService: 3 });
  metrics = new Metrics({ clusters: new Map(), fleet: true });
  corrupt = (change) => change;
  published = 0;
  const wrapBus = (bus: Bus): Bus => ({
    partitions: bus.partitions,
    limits: bus.limits,
    append: (topic, partition, records) =>
      bus.append(topic, partition, topic === 'changes' ? records.map(pass) : records),
    read: bus.read.bind(bus),
    end: bus.end.bind(bus),
    beginning: bus.beginning.bind(bus),
    close: bus.close.bind(bus),
  });
  fleet = startFleet({
    server,
    clock,
    seed: 1,
    wrapBus,
    comparePeriodMs,
    observe: { metrics: reconcilerMetrics(metrics, clock) },
  });
  await advance(clock, 5_000);
  published = 0;
});

afterEach(() => fleet.stop());

function pass(record: BusRecord): BusRecord {
  const message = decodeMessage(record.payload);
  if (message.kind !== 'change') return record;
  published++;
  return { ...record, payload: encodeMessage(corrupt(message)) };
}

/** Number of detected mismatches by part. */
async function found(): Promise<Record<string, number>> {
  const text = await metrics.text();
  const lines = text.matchAll(/^sluice_state_digest_mismatches_total\{part="(\w+)"\} (\d+)$/gm);
  const counts = [...lines].map(([, part = '', count]): [string, number] => [part, Number(count)]);
  return Object.fromEntries(counts.filter(([, count]) => count > 0));
}

const isRight = () => {
  const { expected, actual } = slicesOf(server);
  return expected.join('\n') === actual.join('\n');
};

describe('watcher and reconciler compare digests periodically', () => {
  test('correct state: few digests are sent and no mismatch is found', async () => {
    await advance(clock, 60 * comparePeriodMs);
    expect(await found()).toEqual({});
    // Each round one digest for each of two partitions, and within the hour one for each Service.
    expect(published).toBeGreaterThanOrEqual(2 * 59);
    expect(published).toBeLessThanOrEqual(2 * 60 + services);
  });

  test.each<[string, string, (change: Change) => Change]>([
    ['without its facts', 'pods', (change) => ({ ...change, facts: [] })],
    [
      'with wrong facts',
      'pods',
      (change) => ({
        ...change,
        facts: change.facts.map((fact) =>
          fact.kind === 'pod' && fact.pod !== null ? { ...fact, pod: { ...fact.pod, ready: true } } : fact,
        ),
      }),
    ],
  ])('a Change %s is detected, counted and repaired', async (_, part, corruption) => {
    corrupt = corruption;
    server.put('pods', population.podObject(3, 1, false));
    await advance(clock, 5_000);
    corrupt = (change) => change;
    expect(isRight()).toBe(false);
    await advance(clock, 60 * comparePeriodMs);
    expect(await found()).toEqual({ [part]: 1 });
    expect(isRight()).toBe(true);
    await advance(clock, 60 * comparePeriodMs);
    expect(await found()).toEqual({ [part]: 1 });
  });
});
