import type { Clock } from '@sluice/runtime';
import type { GroupState, Heartbeat, Leases } from './leases.ts';

interface Group {
  /** When each member counts as gone, by the clock's monotonic time. */
  readonly members: Map<string, number>;
  /** Also of leases that are free: an epoch is never given twice. */
  readonly leases: Map<string, { holder: string | null; epoch: number }>;
}

/** Leases inside one process. */
export class MemoryLeases implements Leases {
  readonly #clock: Clock;
  readonly #groups = new Map<string, Group>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  async heartbeat({ group: name, member, ttlMs, release, acquire }: Heartbeat): Promise<GroupState> {
    const group = this.#group(name);
    group.members.set(member, this.#clock.monotonic() + ttlMs);
    for (const scope of release) {
      const lease = group.leases.get(scope);
      if (lease?.holder === member) lease.holder = null;
    }
    for (const scope of acquire) {
      const lease = group.leases.get(scope);
      if (lease !== undefined && lease.holder !== null) continue;
      const epoch = Math.max((lease?.epoch ?? 0) + 1, Math.floor(this.#clock.now()));
      group.leases.set(scope, { holder: member, epoch });
    }
    const leases = [...group.leases].flatMap(([scope, { holder, epoch }]) =>
      holder === null ? [] : [{ scope, holder, epoch }],
    );
    return { members: [...group.members.keys()], leases };
  }

  async leave(name: string, member: string): Promise<void> {
    const group = this.#group(name);
    group.members.set(member, Number.NEGATIVE_INFINITY);
    this.#group(name);
  }

  /** Without those whose time is up. */
  #group(name: string): Group {
    let group = this.#groups.get(name);
    if (group === undefined) {
      group = { members: new Map(), leases: new Map() };
      this.#groups.set(name, group);
    }
    const now = this.#clock.monotonic();
    for (const [member, until] of group.members) {
      if (until > now) continue;
      group.members.delete(member);
      for (const lease of group.leases.values()) {
        if (lease.holder === member) lease.holder = null;
      }
    }
    return group;
  }
}
