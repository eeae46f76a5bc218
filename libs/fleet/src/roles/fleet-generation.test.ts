import { MemoryBus } from '@sluice/bus';
import { randomInteger, seededRandom, silentLogger, sleep, VirtualClock } from '@sluice/platform';
import { advance, recordingLogger } from '@sluice/platform/testing';
import {
  type GroupState,
  type Heartbeat,
  MemoryDeadLetters,
  MemoryDocument,
  MemoryLeases,
  MemoryStore,
} from '@sluice/store';
import { expect, test } from 'vitest';
import { FleetGeneration, leasesOf, readGenerations, storeOf } from './fleet-generation.ts';
import { formatGenerations } from './generations.ts';
import { own, partitionScopes } from './role.ts';

const leaseTimes = { ttlMs: 900, heartbeatMs: 250 };

/** Who works on a partition, and in which generation. */
interface Work {
  readonly generation: number;
  readonly partition: string;
  readonly isCurrent: () => boolean;
}

/** A fleet whose processes share one store, which answers a read after `readMs`. */
function fleet(seed: number, readMs = 0) {
  const clock = new VirtualClock(Date.UTC(2026, 0, 1));
  const random = seededRandom(seed);
  const document = new MemoryDocument();
  const shared = new MemoryLeases(clock);
  const store = new MemoryStore();
  const working = new Set<Work>();
  const stopped = new AbortController();
  let member = 0;

  /** Starts a process that changes over to each generation, as `sluice worker` does. Returns a switch that freezes it. */
  function start(initial: number): (frozen: boolean) => void {
    let thaw = Promise.withResolvers<void>();
    thaw.resolve();
    const leases = {
      heartbeat: async (heartbeat: Heartbeat): Promise<GroupState> => {
        await thaw.promise;
        return shared.heartbeat(heartbeat);
      },
      leave: (group: string, name: string) => shared.leave(group, name),
      state: async (group: string) => {
        await thaw.promise;
        return shared.state(group);
      },
      watch: (group: string, onChange: () => void) => shared.watch(group, onChange),
    };
    const read = {
      read: async () => {
        await thaw.promise;
        await sleep(clock, readMs);
        await thaw.promise;
        return document.read();
      },
      replace: (expected: string | null, next: string) => document.replace(expected, next),
    };
    const run = async () => {
      while (!stopped.signal.aborted) {
        const all = await readGenerations(read, initial);
        const generation = new FleetGeneration(all, { document: read, leases, clock, logger: silentLogger });
        const { number, partitions } = generation;
        const stop = new AbortController();
        const signal = AbortSignal.any([stop.signal, stopped.signal]);
        const bus = new MemoryBus({ partitions });
        const owning = own(
          {
            ...{ bus, store: storeOf(store, number), leases: leasesOf(leases, number), generation, leaseTimes },
            ...{ deadLetters: new MemoryDeadLetters(), member: `m${member++}`, clock, random, logger: silentLogger },
          },
          {
            ...{ role: 'writer', group: 'writer', scopes: partitionScopes(bus) },
            async work({ scope, isCurrent, signal: held, started }) {
              const work = { generation: number, partition: scope, isCurrent: () => isCurrent() && !held.aborted };
              working.add(work);
              started();
              if (!held.aborted)
                await new Promise((resolve) => held.addEventListener('abort', resolve, { once: true }));
              await sleep(clock, randomInteger(random, 0, 40));
              working.delete(work);
            },
          },
          signal,
        );
        await generation.superseded(signal);
        stop.abort();
        await owning;
      }
    };
    void run();
    return (frozen) => {
      if (frozen) thaw = Promise.withResolvers();
      else thaw.resolve();
    };
  }

  async function repartition(partitions: number): Promise<void> {
    const all = await readGenerations(document, partitions);
    const next = [...all, { partitions, since: clock.now() }] as const;
    expect(await document.replace(formatGenerations(all), formatGenerations([all[0], ...next.slice(1)]))).toBe(true);
  }

  const current = () => [...working].filter(({ isCurrent }) => isCurrent());
  return { clock, random, start, repartition, current, stop: () => stopped.abort() };
}

/** Nobody works in two generations, and nobody shares a partition. */
function expectOneOwner(work: readonly Work[]): void {
  const partitions = work.map(({ partition }) => partition);
  expect(new Set(partitions).size, 'a partition with two owners').toBe(partitions.length);
  expect(new Set(work.map(({ generation }) => generation)).size, 'generations at work').toBeLessThanOrEqual(1);
}

test.each([1, 2, 3, 4, 5])('one generation works at a time, whichever process is frozen (seed %d)', async (seed) => {
  const { clock, random, start, repartition, current, stop } = fleet(seed);
  const freeze = [start(4), start(4), start(4)];
  await advance(clock, 3_000);
  expect(current().length).toBe(4);
  for (const partitions of [16, 4, 8]) {
    await repartition(partitions);
    const frozen = freeze[randomInteger(random, 0, freeze.length - 1)];
    const [from, until] = [randomInteger(random, 0, 2_000), randomInteger(random, 2_000, 6_000)];
    for (let ms = 0; ms < 10_000; ms += 20) {
      if (ms >= from && ms < from + 20) frozen?.(true);
      if (ms >= until && ms < until + 20) frozen?.(false);
      await advance(clock, 20);
      expectOneOwner(current());
    }
    expect(current().length).toBe(partitions);
  }
  stop();
  await advance(clock, 5_000);
});

test('a process that acquires a lease of an ended generation does not work', async () => {
  const { clock, start, repartition, current, stop } = fleet(7, 300);
  const freeze = start(4);
  await advance(clock, 3_000);
  freeze(true);
  await advance(clock, 2_000);
  expect(current()).toEqual([]);
  await repartition(8);
  start(4);
  await advance(clock, 3_000);
  expect(current().length).toBe(8);
  freeze(false);
  for (let ms = 0; ms < 3_000; ms += 10) {
    await advance(clock, 10);
    expectOneOwner(current());
  }
  stop();
  await advance(clock, 5_000);
});

test('a process that waits for leases of a former generation reports who holds them, once', async () => {
  const clock = new VirtualClock();
  const leases = new MemoryLeases(clock);
  const logger = recordingLogger();
  const all = [
    { partitions: 4, since: 0 },
    { partitions: 8, since: 1 },
  ] as const;
  const generation = new FleetGeneration(all, { document: new MemoryDocument(), leases, clock, logger });
  const hold = { group: 'writer', member: 'stuck', ttlMs: 60_000, release: [], acquire: ['0', '1'] };
  await leases.heartbeat(hold);
  let released = false;
  const waiting = generation.formerReleased('writer', 900, new AbortController().signal).then(() => {
    released = true;
  });
  await advance(clock, 9_000);
  expect(logger.fields('warn')).toEqual([]);
  await advance(clock, 20_000);
  expect(logger.fields('warn')).toEqual([{ group: 'writer', holders: 'stuck' }]);
  expect(released).toBe(false);
  await leases.leave('writer', 'stuck');
  await advance(clock, 1_000);
  await waiting;
});

test('a process that never releases its leases of a former generation loses them, and holds the fleet up for a minute', async () => {
  const clock = new VirtualClock();
  const leases = new MemoryLeases(clock);
  const logger = recordingLogger();
  const all = [
    { partitions: 1, since: 0 },
    { partitions: 2, since: 1 },
  ] as const;
  const document = new MemoryDocument();
  await document.replace(null, formatGenerations(all));
  const ports = { document, leases, clock, logger };
  // Its heartbeats continue, and it acquires whatever is free.
  const stuck = new AbortController();
  let acquired = 0;
  const stop = () => stuck.abort();
  const heartbeats = async () => {
    while (!stuck.signal.aborted) {
      const held = await leases.heartbeat({
        ...{ group: 'writer', member: 'stuck', ttlMs: 900, release: [], acquire: ['0'] },
      });
      acquired = held.leases[0]?.fencingToken ?? 0;
      await sleep(clock, 250, stuck.signal);
    }
  };
  const beating = heartbeats();
  await advance(clock, 1_000);
  const before = acquired;
  let releasedAt = 0;
  const next = new FleetGeneration(all, ports);
  const waiting = next.formerReleased('writer', 900, new AbortController().signal).then(() => {
    releasedAt = clock.now();
  });
  await advance(clock, 59_000);
  expect([releasedAt, acquired === before]).toEqual([0, true]);
  await advance(clock, 3_000);
  expect(releasedAt).toBeGreaterThan(61_000);
  // What it holds now is a new lease, under which it reads the list again before it works.
  expect(acquired).toBeGreaterThan(before);
  expect(await new FleetGeneration([all[0]], ports).isCurrent()).toBe(false);
  stop();
  await advance(clock, 1_000);
  await Promise.all([beating, waiting]);
});
