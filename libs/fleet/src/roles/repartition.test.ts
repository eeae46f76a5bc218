import { type Bus, BusSetupError, MemoryBus } from '@sluice/bus';
import { randomInteger, seededRandom, sleep, VirtualClock } from '@sluice/platform';
import { advance } from '@sluice/platform/testing';
import { MemoryDocument } from '@sluice/store';
import { expect, test } from 'vitest';
import { readGenerations } from './fleet-generation.ts';
import { type PartitionGenerations, parseGenerations } from './generations.ts';
import { repartition } from './repartition.ts';

/** A fleet with 4 partitions. Its bus notes for how many partitions each log was created; logs are created in any order. */
async function fleet(random = seededRandom(1)) {
  const clock = new VirtualClock(1_000);
  const [document, intended] = [new MemoryDocument(), new MemoryDocument()];
  await readGenerations(document, 4);
  const logs = new Map<string, number>();

  const check = (name: string, partitions: number): void => {
    const existing = logs.get(name) ?? partitions;
    if (existing !== partitions) throw new BusSetupError('BUS_OTHER_PARTITIONS', `${existing}, want ${partitions}`);
  };

  const create = async (name: string, partitions: number, dead: () => boolean): Promise<void> => {
    await sleep(clock, randomInteger(random, 0, 200));
    if (dead()) return new Promise(() => {});
    check(name, partitions);
    logs.set(name, partitions);
  };

  const openLogs = async (generation: number, partitions: number, dead: () => boolean): Promise<Bus> => {
    const names = Array.from({ length: partitions }, (_, log) => `g${generation}-${log}`);
    for (const name of names) check(name, partitions);
    for (const created of await Promise.allSettled(names.map((name) => create(name, partitions, dead)))) {
      if (created.status === 'rejected') throw created.reason;
    }
    return new MemoryBus({ partitions });
  };

  /** Runs the command, which dies as soon as `dead` says so. */
  const set = async (
    partitions: number,
    { dead = (): boolean => false, dryRun = false } = {},
  ): Promise<PartitionGenerations> => {
    const all = parseGenerations((await document.read()) ?? '');
    const generation = { all, partitions: all.at(-1)?.partitions ?? 0 };
    const ports = { generation, document, intended, clock };
    return repartition({ ...ports, openLogs: (number, count) => openLogs(number, count, dead) }, partitions, {
      dryRun,
    });
  };
  const stored = async () => parseGenerations((await document.read()) ?? '').map(({ partitions }) => partitions);
  const counts = (generation: number) =>
    new Set([...logs].flatMap(([name, count]) => (name.startsWith(`g${generation}-`) ? [count] : [])));
  return { clock, logs, set, stored, counts, document, intended };
}

/** Lets a command create some logs of a new generation, and then die. */
async function dieHalfWay({ clock, logs, set }: Awaited<ReturnType<typeof fleet>>, partitions: number) {
  void set(partitions, { dead: () => logs.size > 2 });
  await advance(clock, 10_000);
  expect(logs.size).toBe(3);
}

test('a command that died half way is completed by one with the same number of partitions', async () => {
  const one = await fleet();
  await dieHalfWay(one, 8);
  expect(await one.stored()).toEqual([4]);
  const done = one.set(8);
  await advance(one.clock, 10_000);
  expect(await done).toHaveLength(2);
  expect(await one.stored()).toEqual([4, 8]);
  expect(one.counts(1)).toEqual(new Set([8]));
});

test('a command that died half way blocks no other number of partitions', async () => {
  const one = await fleet();
  await dieHalfWay(one, 8);
  expect(await one.set(6, { dryRun: true })).toHaveLength(3);
  const done = one.set(6);
  await advance(one.clock, 10_000);
  // The generation whose logs are incomplete begins and ends at the same time.
  expect(await done).toEqual([
    { partitions: 4, since: 0 },
    { partitions: 6, since: 11_000 },
    { partitions: 6, since: 11_000 },
  ]);
  expect([one.counts(1), one.counts(2)]).toEqual([new Set([8]), new Set([6])]);
  const later = one.set(8);
  await advance(one.clock, 10_000);
  expect(await later).toHaveLength(4);
  expect(one.counts(3)).toEqual(new Set([8]));
});

test('logs of a command whose intent the store has lost are left alone', async () => {
  const one = await fleet();
  await dieHalfWay(one, 8);
  await one.intended.replace(await one.intended.read(), 'unreadable');
  const done = one.set(6);
  await advance(one.clock, 10_000);
  expect(await done).toHaveLength(3);
  expect([one.counts(1), one.counts(2)]).toEqual([new Set([8]), new Set([6])]);
});

test('commands at the same time never share logs, and one of them succeeds', async () => {
  for (let seed = 1; seed <= 100; seed++) {
    const random = seededRandom(seed);
    const one = await fleet(random);
    const wanted = [8, 6, 7].slice(0, randomInteger(random, 2, 3));
    const results = Promise.allSettled(
      wanted.map(async (partitions) => {
        await sleep(one.clock, randomInteger(random, 0, 100));
        const diesAt = one.clock.now() + randomInteger(random, 1, 1_000);
        const mayDie = partitions === 7;
        return one.set(partitions, { dead: () => mayDie && one.clock.now() > diesAt });
      }),
    );
    await advance(one.clock, 10_000);
    for (let generation = 1; generation < 8; generation++) {
      expect(one.counts(generation).size, `seed ${seed}, generation ${generation}`).toBeLessThan(2);
    }
    if (wanted.includes(7)) continue;
    const succeeded = (await results).filter(({ status }) => status === 'fulfilled');
    expect(succeeded.length, `seed ${seed}`).toBeGreaterThan(0);
    const last = (await one.stored()).at(-1);
    expect(one.counts((await one.stored()).length - 1), `seed ${seed}`).toEqual(new Set([last]));
  }
});
