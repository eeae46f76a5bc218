import { FakeApiServer, FakeClient, type Fault, FaultPlan } from '@sluice/fake-apiserver';
import { seededRandom, silentLogger, VirtualClock } from '@sluice/platform';
import { advance } from '@sluice/platform/testing';
import { defaultSettings } from '@sluice/service-state';
import { startAllInOne } from '@sluice/sluice';
import { expect, test } from 'vitest';
import { PodPopulation } from './harness/pod-population.ts';

/** To repeat one seed: `SEED=17 npx vitest run --project unit tests/isolation.test.ts`. */
const seeds = process.env.SEED === undefined ? [1, 2, 3] : [Number(process.env.SEED)];

/** The faulty clusters. A request whose packets are dropped fails after the request timeout. */
const bad: Readonly<Record<string, Fault>> = {
  refused: { error: 'reset' },
  swallowed: { error: 'reset', latencyMs: 30_000 },
  slow: { latencyMs: 5_000 },
  throttled: { error: 'tooManyRequests', retryAfterSeconds: 1 },
};

const good = ['good-1', 'good-2', 'good-3'];

interface Member {
  readonly name: string;
  readonly server: FakeApiServer;
  readonly world: PodPopulation;
  readonly faults: FaultPlan;
}

/**
 * All clusters share one partition of each topic, so one partition worker and one plan partition, as Services do in a
 * fleet whose partitions are chosen by hash.
 */
async function run(seed: number, names: readonly string[]) {
  const clock = new VirtualClock(Date.parse('2026-01-01T00:00:00Z'));
  const members = names.map((name, i): Member => {
    const server = new FakeApiServer({ clock, random: seededRandom(seed * 100 + i) });
    const shape = { services: 4, pods: 3 };
    const world = new PodPopulation(server, shape, seededRandom(seed * 100 + 50 + i), clock.now());
    return { name, server, world, faults: new FaultPlan() };
  });
  const fleet = startAllInOne({
    clusters: members.map(({ name, server, faults }) => {
      const client = new FakeClient(server, { clock, faults });
      return { name, identity: server.identity, reader: client, writer: client, record: () => {} };
    }),
    ...{ partitions: 1, settings: defaultSettings, clock, random: seededRandom(seed), logger: silentLogger },
  });
  await advance(clock, 5_000);
  expect(members.flatMap(({ world }) => world.incorrectServices())).toEqual([]);
  const isBad = ({ name }: Member) => name in bad;
  // Pending changes of a faulty cluster wait in the partitions when the next changes arrive.
  const spoil = ({ name, server, world, faults }: Member) => {
    for (let n = 0; n < 10; n++) world.change();
    faults.add(bad[name] ?? {});
    server.cutWatches('reset');
  };
  for (const member of members.filter(isBad)) spoil(member);
  let longestMs = 0;
  for (let round = 0; round < 60; round++) {
    for (const { world } of members) world.change();
    const wrong = () => members.some((member) => !isBad(member) && member.world.incorrectServices().length > 0);
    let waitedMs = 0;
    for (; wrong() && waitedMs < 10_000; waitedMs += 1) await advance(clock, 1);
    longestMs = Math.max(longestMs, waitedMs);
    await advance(clock, 1_000);
  }
  return { clock, fleet, members, longestMs };
}

test.each(seeds)(
  'healthy clusters are unaffected by faulty ones, which recover on their own (seed %i)',
  async (seed) => {
    const without = await run(seed, good);
    await without.fleet.stop(0);
    const { clock, fleet, members, longestMs } = await run(seed, [...good, ...Object.keys(bad)]);
    expect(longestMs, `seed ${seed}`).toBeLessThanOrEqual(without.longestMs);
    for (const { faults } of members) faults.clear();
    // Longer than every backoff of watchers, writers and resync requests.
    await advance(clock, 20 * 60_000);
    expect(
      Object.fromEntries(members.map(({ name, world }) => [name, world.incorrectServices()])),
      `seed ${seed}`,
    ).toEqual(Object.fromEntries(members.map(({ name }) => [name, []])));
    await fleet.stop(0);
  },
);
