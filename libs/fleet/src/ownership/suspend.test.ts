import { type Clock, randomInteger, seededRandom, silentLogger, sleep, VirtualClock } from '@sluice/platform';
import { advance } from '@sluice/platform/testing';
import { type GroupState, type Heartbeat, type Leases, MemoryLeases } from '@sluice/store';
import { expect, test } from 'vitest';
import type { HeldLease } from './holdings.ts';
import { Ownership } from './ownership.ts';

const scopes = Array.from({ length: 8 }, (_, i) => `p/${i}`);
const ttlMs = 900;
const heartbeatMs = 250;

/** A machine that can be suspended: nothing runs, and the monotonic clock stops; on resume the wall clock is right again. */
class Machine {
  readonly #world: VirtualClock;
  #suspended: { readonly since: number; readonly resumed: PromiseWithResolvers<void> } | undefined;
  #lostMs = 0;

  constructor(world: VirtualClock) {
    this.#world = world;
  }

  suspend(): void {
    this.#suspended ??= { since: this.#world.now(), resumed: Promise.withResolvers() };
  }

  resume(): void {
    if (this.#suspended === undefined) return;
    this.#lostMs += this.#world.now() - this.#suspended.since;
    const { resumed } = this.#suspended;
    this.#suspended = undefined;
    resumed.resolve();
  }

  get clock(): Clock {
    const world = this.#world;
    return {
      now: () => world.now(),
      monotonic: () => world.monotonic() - this.#lostMs,
      schedule: (delayMs, callback) => {
        let cancelled = false;
        const cancel = world.schedule(delayMs, () => void this.awake().then(() => cancelled || callback()));
        return () => {
          cancelled = true;
          cancel();
        };
      },
    };
  }

  async awake(): Promise<void> {
    while (this.#suspended !== undefined) await this.#suspended.resumed.promise;
  }

  leases(leases: Leases): Leases {
    return {
      heartbeat: async (heartbeat: Heartbeat): Promise<GroupState> => {
        await sleep(this.#world, 2);
        await this.awake();
        const state = await leases.heartbeat(heartbeat);
        await this.awake();
        return state;
      },
      leave: (group, member) => leases.leave(group, member),
      watch: (group, onChange) => leases.watch(group, onChange),
      state: (group) => leases.state(group),
    };
  }
}

test.each(Array.from({ length: 60 }, (_, seed) => seed))(
  'a member on a suspended machine sends nothing for scopes that it has lost (seed %d)',
  async (seed) => {
    const random = seededRandom(seed);
    const clock = new VirtualClock(Date.UTC(2026, 0, 1));
    const leases = new MemoryLeases(clock);
    const stop = new AbortController();
    const machines = [new Machine(clock), new Machine(clock)];
    const violations: string[] = [];
    const members = machines.map((machine, i) => {
      const member = `m${i}`;
      /** Sends without a pause as long as the lease counts as current, like a writer with a backlog. */
      const work = async (lease: HeldLease): Promise<void> => {
        lease.started();
        while (!lease.signal.aborted) {
          await sleep(machine.clock, randomInteger(random, 1, 40), lease.signal);
          if (lease.signal.aborted || !lease.isCurrent()) continue;
          const { leases: held } = await leases.state('g');
          const holder = held.find(({ scope }) => scope === lease.scope);
          if (holder?.fencingToken !== lease.fencingToken) violations.push(`${member} sent for ${lease.scope}`);
        }
      };
      const ports = { clock: machine.clock, random: seededRandom(seed + i), logger: silentLogger };
      const options = { leases: machine.leases(leases), group: 'g', member, scopes, ttlMs, heartbeatMs, work };
      return new Ownership({ ...options, ...ports }).run(stop.signal);
    });
    await advance(clock, 3_000);
    for (let round = 0; round < 5; round++) {
      const machine = machines[randomInteger(random, 0, 1)];
      machine?.suspend();
      await advance(clock, randomInteger(random, 100, 5_000));
      machine?.resume();
      await advance(clock, randomInteger(random, 500, 3_000));
    }
    expect(violations).toEqual([]);
    stop.abort();
    await advance(clock, 10_000);
    await Promise.all(members);
  },
);
