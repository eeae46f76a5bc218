import type { Clock } from '@sluice/runtime';
import type { GroupState, Heartbeat, Leases } from './leases.ts';

interface Group {
  readonly members: Map<string, { /** Monotonic time. */ expiresAt: number; leaving: boolean; disconnected?: boolean }>;
  readonly watchers: Set<() => void>;
  /** Includes free leases, so that no fencing token is issued twice. */
  readonly leases: Map<string, { holder: string | null; fencingToken: number; started: boolean }>;
}

/** In-process leases. */
export class MemoryLeases implements Leases {
  readonly #clock: Clock;
  readonly #groups = new Map<string, Group>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  async heartbeat(heartbeat: Heartbeat): Promise<GroupState> {
    const { group: name, member, ttlMs, release, acquire, started = [] } = heartbeat;
    const { leaving = false, disconnected = false } = heartbeat;
    const group = this.#group(name);
    let changed = release.length > 0 || group.members.get(member)?.leaving !== leaving;
    group.members.set(member, { expiresAt: this.#clock.monotonic() + ttlMs, leaving, disconnected });
    for (const scope of release) {
      const lease = group.leases.get(scope);
      if (lease?.holder === member) lease.holder = null;
    }
    for (const scope of acquire) {
      const lease = group.leases.get(scope);
      if (lease !== undefined && lease.holder !== null) continue;
      const fencingToken = Math.max((lease?.fencingToken ?? 0) + 1, Math.floor(this.#clock.now()));
      group.leases.set(scope, { holder: member, fencingToken, started: false });
      changed = true;
    }
    for (const scope of started) {
      const lease = group.leases.get(scope);
      if (lease?.holder !== member) continue;
      lease.started = true;
      changed = true;
    }
    if (changed) notify(group);
    const others = [...group.members].filter(([name]) => name !== member);
    const [next] = others.toSorted(([, a], [, b]) => a.expiresAt - b.expiresAt);
    if (next === undefined) return stateOf(group);
    const nextExpiry = { member: next[0], inMs: next[1].expiresAt - this.#clock.monotonic() };
    return { ...stateOf(group), nextExpiry };
  }

  async state(name: string): Promise<GroupState> {
    return stateOf(this.#group(name));
  }

  async leave(name: string, member: string): Promise<void> {
    const group = this.#group(name);
    group.members.set(member, { expiresAt: Number.NEGATIVE_INFINITY, leaving: true });
    this.#group(name);
    notify(group);
  }

  watch(name: string, onChange: () => void): () => void {
    const { watchers } = this.#group(name);
    const watcher = () => onChange();
    watchers.add(watcher);
    return () => watchers.delete(watcher);
  }

  /** Returns the group after removing expired members and freeing their leases. */
  #group(name: string): Group {
    let group = this.#groups.get(name);
    if (group === undefined) {
      group = { members: new Map(), watchers: new Set(), leases: new Map() };
      this.#groups.set(name, group);
    }
    const now = this.#clock.monotonic();
    for (const [member, { expiresAt }] of group.members) {
      if (expiresAt > now) continue;
      group.members.delete(member);
      for (const lease of group.leases.values()) {
        if (lease.holder === member) lease.holder = null;
      }
    }
    return group;
  }
}

function stateOf({ members, leases }: Group): GroupState {
  const active = [...members].filter(([, { leaving }]) => !leaving);
  return {
    members: active.map(([name]) => name),
    disconnected: active.flatMap(([name, { disconnected }]) => (disconnected ? [name] : [])),
    leases: [...leases].flatMap(([scope, { holder, ...lease }]) =>
      holder === null ? [] : [{ scope, holder, ...lease }],
    ),
  };
}

/** Calls watchers asynchronously, as a server would. */
function notify({ watchers }: Group): void {
  for (const watcher of watchers) queueMicrotask(watcher);
}
