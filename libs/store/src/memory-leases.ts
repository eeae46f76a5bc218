import type { Clock } from '@sluice/platform';
import type { GroupState, Heartbeat, Leases } from './leases.ts';

interface Member {
  /** Monotonic time. */
  readonly expiresAt: number;
  readonly leaving: boolean;
  readonly stalled: readonly string[];
  readonly serves: readonly string[] | undefined;
}

interface StoredLease {
  holder: string | null;
  readonly fencingToken: number;
  started: boolean;
  preparedBy?: string | undefined;
}

interface Group {
  readonly members: Map<string, Member>;
  readonly watchers: Set<() => void>;
  /** Includes free leases, so that no fencing token is issued twice. */
  readonly leases: Map<string, StoredLease>;
  /** The group as of its version; undefined after a change. */
  state: GroupState | undefined;
}

/** In-process leases. */
export class MemoryLeases implements Leases {
  /** Counts the versions of all instances: one that replaces another, as a wiped store, must not repeat its versions. */
  static #versions = 0;
  readonly #clock: Clock;
  readonly #groups = new Map<string, Group>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  async heartbeat(heartbeat: Heartbeat): Promise<GroupState> {
    const { group: name, member, ttlMs, release, acquire, started = [] } = heartbeat;
    const { prepared = [], leaving = false, stalled = [], serves } = heartbeat;
    const group = this.#group(name);
    const known = group.members.get(member);
    const next: Member = { expiresAt: this.#clock.monotonic() + ttlMs, leaving, stalled, serves };
    group.members.set(member, next);
    if (known === undefined || !isAlike(known, next)) group.state = undefined;
    let notable = release.length > 0 || known?.leaving !== leaving;
    for (const scope of release) {
      const lease = group.leases.get(scope);
      if (lease?.holder !== member) continue;
      lease.holder = null;
      lease.preparedBy = undefined;
      group.state = undefined;
    }
    for (const scope of acquire) {
      const lease = group.leases.get(scope);
      if (lease !== undefined && lease.holder !== null) continue;
      const fencingToken = Math.max((lease?.fencingToken ?? 0) + 1, Math.floor(this.#clock.now()));
      group.leases.set(scope, { holder: member, fencingToken, started: false });
      notable = true;
      group.state = undefined;
    }
    for (const scope of started) {
      const lease = group.leases.get(scope);
      if (lease?.holder !== member || lease.started) continue;
      lease.started = true;
      notable = true;
      group.state = undefined;
    }
    for (const scope of prepared) {
      const lease = group.leases.get(scope);
      if (!lease?.holder || lease.holder === member || lease.preparedBy === member) continue;
      lease.preparedBy = member;
      notable = true;
      group.state = undefined;
    }
    if (notable) notify(group);
    group.state ??= { version: String(++MemoryLeases.#versions), ...stateOf(group) };
    let nextExpiry: GroupState['nextExpiry'];
    for (const [other, { expiresAt }] of group.members) {
      const inMs = expiresAt - this.#clock.monotonic();
      if (other !== member && inMs < (nextExpiry?.inMs ?? Number.POSITIVE_INFINITY))
        nextExpiry = { member: other, inMs };
    }
    return nextExpiry === undefined ? group.state : { ...group.state, nextExpiry };
  }

  /** These leases without their watchers, as a backup has them. */
  copy(): MemoryLeases {
    const copy = new MemoryLeases(this.#clock);
    for (const [name, { members, leases }] of this.#groups) {
      const copied = [...leases].map(([scope, lease]) => [scope, { ...lease }] as const);
      copy.#groups.set(name, {
        members: new Map(members),
        watchers: new Set(),
        leases: new Map(copied),
        state: undefined,
      });
    }
    return copy;
  }

  async state(name: string): Promise<GroupState> {
    const { serves: _, ...state } = stateOf(this.#group(name));
    return state;
  }

  async leave(name: string, member: string): Promise<void> {
    const group = this.#group(name);
    const known = group.members.get(member);
    if (known !== undefined) group.members.set(member, { ...known, expiresAt: Number.NEGATIVE_INFINITY });
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
      group = { members: new Map(), watchers: new Set(), leases: new Map(), state: undefined };
      this.#groups.set(name, group);
    }
    const now = this.#clock.monotonic();
    for (const [member, { expiresAt }] of group.members) {
      if (expiresAt > now) continue;
      group.members.delete(member);
      group.state = undefined;
      for (const lease of group.leases.values()) {
        if (lease.holder === member) Object.assign(lease, { holder: null, preparedBy: undefined });
      }
    }
    return group;
  }
}

function isAlike(a: Member, b: Member): boolean {
  if (a.leaving !== b.leaving || a.stalled.join('\n') !== b.stalled.join('\n')) return false;
  return a.serves === b.serves || a.serves?.join('\n') === b.serves?.join('\n');
}

function stateOf({ members, leases }: Group): GroupState {
  const active = [...members].filter(([, { leaving }]) => !leaving);
  const serves = active.flatMap(([name, { serves }]) => (serves === undefined ? [] : [[name, serves] as const]));
  const stalled = active.flatMap(([name, { stalled }]) => (stalled.length === 0 ? [] : [[name, stalled] as const]));
  return {
    members: active.map(([name]) => name),
    ...(stalled.length > 0 && { stalled: new Map(stalled) }),
    ...(serves.length > 0 && { serves: new Map(serves) }),
    leases: [...leases].flatMap(([scope, { holder, ...lease }]) =>
      holder === null ? [] : [{ scope, holder, ...lease }],
    ),
  };
}

/** Calls watchers asynchronously, as a server would. */
function notify({ watchers }: Group): void {
  for (const watcher of watchers) queueMicrotask(watcher);
}
