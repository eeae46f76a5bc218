import type { Random } from '@sluice/platform';
import type { Checkpoint, Commit, GroupState, Leases, ScopeState, Store } from '@sluice/store';

/** A store that faults act on. */
export interface SimulatedStore {
  /** Names of all scopes. */
  readonly scopes: readonly string[];
  /** Values of a scope by key and field, separated by a line feed. */
  entries(scope: string): ReadonlyMap<string, string>;
  checkpoint(scope: string): Checkpoint | null;
  /** The store as one process sees it. */
  connect(member: string): ConnectedStore;
  /** Loses nothing, but claims report possible losses. */
  restart(): void;
  backup(): StoreBackup;
  /** Replaces stored values of a scope by what no program has written. */
  corrupt(scope: string, random: Random): void;
  /** Replaces a stored value of a scope by that of the same field of another Service. */
  replaceValue(scope: string, random: Random): void;
  /** Replaces a field of the leases by garbage or by another field. Returns its name. Undefined if no process could read such leases. */
  changeLease?(random: Random): string | undefined;
  /** Loses everything. */
  wipe(): void;
  loseLeases(): void;
  /** Sets the store's clock ahead, or back. Undefined if leases do not expire by a clock that can be set. */
  stepClock?(ms: number): void;
}

export interface ConnectedStore {
  readonly store: Store;
  readonly leases: Leases;
}

/** The state of a store at one time. */
export interface StoreBackup {
  /** Also of the leases. */
  restore(): void;
  restoreScope(scope: string): void;
}

export interface StoreObserver {
  /** Called before the claim has an effect. */
  claimed(member: string, scope: string, fencingToken: number): void;
  /** Called for each claim that succeeds, with its answer. */
  restored(member: string, scope: string, state: ScopeState): void;
  /** Called for each commit that succeeds, after it. */
  committed(member: string, commit: Commit, previous: Checkpoint | null): void;
  group(name: string, member: string, state: GroupState): void;
  /** A fault has given an entry the value of another Service, as JSON. */
  replaced(scope: string, entry: string, value: string): void;
}

/** Leases whose heartbeats are observed. */
export const observedLeases = (leases: Leases, observer: StoreObserver): Leases => ({
  heartbeat: async (heartbeat) => {
    const state = await leases.heartbeat(heartbeat);
    observer.group(heartbeat.group, heartbeat.member, state);
    return state;
  },
  leave: (group, member) => leases.leave(group, member),
  state: (group) => leases.state(group),
  watch: (group, onChange) => leases.watch(group, onChange),
});

/** A value of a scope and one that another Service has in the same field; undefined if there is none. */
export function exchange<T>(
  entries: ReadonlyMap<string, T>,
  random: Random,
): readonly [name: string, value: T] | undefined {
  const names = [...entries.keys()];
  const name = names[Math.floor(random.next() * names.length)] ?? '';
  const fieldOf = (one: string) => one.slice(one.indexOf('\n') + 1);
  const others = names.filter((one) => one !== name && fieldOf(one) === fieldOf(name));
  const value = entries.get(others[Math.floor(random.next() * others.length)] ?? '');
  return value === undefined ? undefined : [name, value];
}
