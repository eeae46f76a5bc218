/**
 * Port of partition ownership. A lease has one holder in a group at a time and expires unless renewed; its fencing token
 * increases with each acquisition. Expiry follows the store's clock, so members' clocks may differ.
 */
export interface Leases {
  /**
   * Atomically records that the member is alive, renews all leases it holds, releases some and acquires others that are
   * free. While the version stays, the answer has the same `members` and `leases` objects as before, so callers can skip
   * what they have derived from them.
   */
  heartbeat(heartbeat: Heartbeat): Promise<GroupState>;
  /** Releases all leases of the member and removes it from the group. */
  leave(group: string, member: string): Promise<void>;
  /**
   * Calls `onChange` soon after a member joins or leaves, a lease is acquired, started or released, or a member is prepared
   * for one. Best effort: it may miss changes and may call without one. Returns a function that stops the watch.
   */
  watch(group: string, onChange: () => void): () => void;
  /** Reads the group without changing it, for observers. */
  state(group: string): Promise<GroupState>;
  /**
   * Renews a member's leases from another thread while this thread's event loop is too busy to. Absent where leases do not
   * outlive the process.
   */
  keepAlive?(options: KeepAliveOptions): KeepAlive;
}

export interface KeepAliveOptions {
  readonly group: string;
  readonly member: string;
  readonly ttlMs: number;
  /** Time between renewals, in milliseconds. */
  readonly periodMs: number;
  /** Renewals stop when no heartbeat of the caller has been answered for this long, in milliseconds. */
  readonly maxSilenceMs: number;
}

/** Renews leases from another thread until `stop`. */
export interface KeepAlive {
  /**
   * Time on the monotonic clock at which the last successful renewal was sent; `-Infinity` before the first. A renewal
   * succeeds only if the member still holds all leases of the last `hold`, so they are valid for `ttlMs` from then. Reads
   * shared memory: correct even right after the event loop was blocked.
   */
  readonly renewedAt: number;
  /** Resolves once the thread can renew leases. A lease that is acquired before may expire if the event loop is blocked. */
  readonly ready: Promise<void>;
  /** Sets the leases to renew, by scope with fencing token. */
  hold(leases: ReadonlyMap<string, number>): void;
  /** A heartbeat was answered that was sent at `renewedAt`: the caller is alive, and early renewals are unnecessary. */
  alive(renewedAt: number): void;
  stop(): void;
}

export interface Heartbeat {
  readonly group: string;
  /** Unique in the fleet; a process uses a new name each time it starts. */
  readonly member: string;
  /** Milliseconds after which the member and its leases expire. */
  readonly ttlMs: number;
  /** Scopes to release; ignored where the member is not the holder. */
  readonly release: readonly string[];
  /** Scopes to acquire if they are free. */
  readonly acquire: readonly string[];
  /** Scopes whose work has started, reported once per held lease; ignored where the member is not the holder. */
  readonly started?: readonly string[];
  /**
   * Scopes on which the member can start at once when their holders release them, reported once per held lease; ignored where
   * there is no other holder.
   */
  readonly prepared?: readonly string[];
  /** The member is about to leave: it keeps its leases until it releases them, but no longer counts as a member. */
  readonly leaving?: boolean;
  /**
   * Scopes on which the member makes no progress, and missing dependencies of all scopes, such as the bus, marked by
   * `forAllScopes`. Members without such an entry are preferred.
   */
  readonly stalled?: readonly string[];
  /**
   * Scopes that the member can serve. Undefined: all of the group. An unchanged list is best passed as the same array, which
   * an adapter recognizes without comparing it.
   */
  readonly serves?: readonly string[] | undefined;
}

/** Begins an entry of `stalled` that concerns all scopes. */
export const forAllScopes = '*';

/** The group just after a heartbeat, or at the time of a read. */
export interface GroupState {
  /**
   * Changes with everything in this state except `nextExpiry` and `unreadable`, and never returns to an earlier value, even if the store was
   * wiped or restored. So states with equal versions are equal. Undefined for observers.
   */
  readonly version?: string | undefined;
  readonly members: readonly string[];
  /** The scopes that each member can serve, if members declare them; undefined for observers. */
  readonly serves?: ReadonlyMap<string, readonly string[]> | undefined;
  /** What members make no progress on; absent if all do. */
  readonly stalled?: ReadonlyMap<string, readonly string[]> | undefined;
  /** The other member that expires first unless it renews; undefined if there is no other member, and for observers. */
  readonly nextExpiry?: NextExpiry | undefined;
  /** Number of unreadable entries that this heartbeat has removed from the group. Absent if there were none. */
  readonly unreadable?: number | undefined;
  readonly leases: readonly Lease[];
}

interface NextExpiry {
  readonly member: string;
  /** Milliseconds until a heartbeat finds its leases free. */
  readonly inMs: number;
}

export interface Lease {
  readonly scope: string;
  readonly holder: string;
  /**
   * At least the time of acquisition on the store's clock, in milliseconds since the Unix epoch. It therefore increases even
   * if the store has lost the previous token.
   */
  readonly fencingToken: number;
  /** Whether the holder has reported that work on the scope has started. */
  readonly started: boolean;
  /** The member that has reported last that it can start on the scope at once, for the holder that waits for it. */
  readonly preparedBy?: string | undefined;
}
