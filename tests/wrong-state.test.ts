import type { Bus, BusRecord } from '@sluice/bus';
import { FakeApiServer, populate } from '@sluice/fake-apiserver';
import { type Change, decodeMessage, encodeMessage } from '@sluice/messages';
import { reconcilerMetrics } from '@sluice/reconciler';
import { seededRandom, VirtualClock } from '@sluice/runtime';
import { advance } from '@sluice/runtime/testing';
import { Metrics } from '@sluice/telemetry';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { type Fleet, startFleet } from './harness/fleet.ts';
import { slicesOf } from './harness/what-should-be.ts';

const comparePeriodMs = 60_000;
const services = 8;
let clock: VirtualClock;
let server: FakeApiServer;
let population: ReturnType<typeof populate>;
let metrics: Metrics;
let fleet: Fleet;
/** What the bus makes of a Change, without anybody noticing. */
let falsify: (change: Change) => Change;
let told: number;

beforeEach(async () => {
  clock = new VirtualClock(Date.parse('2026-01-01T00:00:00Z'));
  server = new FakeApiServer({ clock, random: seededRandom(1), bookmarkIntervalMs: 0 });
  population = populate(server, { services, podsPerService: 3 });
  metrics = new Metrics({ clusters: new Map(), fleet: true });
  falsify = (change) => change;
  told = 0;
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
  fleet = startFleet({ server, clock, seed: 1, wrapBus, comparePeriodMs, metrics: reconcilerMetrics(metrics, clock) });
  await advance(clock, 5_000);
  told = 0;
});

afterEach(() => fleet.stop());

function pass(record: BusRecord): BusRecord {
  const message = decodeMessage(record.payload);
  if (message.kind !== 'change') return record;
  told++;
  return { ...record, payload: encodeMessage(falsify(message)) };
}

/** How many views were found to differ, by part. */
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

describe('watcher and reconciler are compared from time to time', () => {
  test('all is well: a few digests go out, nothing is found', async () => {
    await advance(clock, 60 * comparePeriodMs);
    expect(await found()).toEqual({});
    // Of two partitions one digest each round, and of each Service one in the hour.
    expect(told).toBeGreaterThanOrEqual(2 * 59);
    expect(told).toBeLessThanOrEqual(2 * 60 + services);
  });

  test.each<[string, string, (change: Change) => Change]>([
    ['whose facts were lost', 'pods', (change) => ({ ...change, facts: [] })],
    [
      'that says something else than the watcher said',
      'pods',
      (change) => ({
        ...change,
        facts: change.facts.map((fact) =>
          fact.kind === 'pod' && fact.pod !== null ? { ...fact, pod: { ...fact.pod, ready: true } } : fact,
        ),
      }),
    ],
  ])('a Change %s is found out, counted and repaired', async (_, part, harm) => {
    falsify = harm;
    server.put('pods', population.podObject(3, 1, false));
    await advance(clock, 5_000);
    falsify = (change) => change;
    expect(isRight()).toBe(false);
    await advance(clock, 60 * comparePeriodMs);
    expect(await found()).toEqual({ [part]: 1 });
    expect(isRight()).toBe(true);
    await advance(clock, 60 * comparePeriodMs);
    expect(await found()).toEqual({ [part]: 1 });
  });
});
