import type { Random } from '@sluice/runtime';
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

/** The state of a store at one time. The leases survive a restore. */
export interface StoreBackup {
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
