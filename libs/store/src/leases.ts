/**
 * Who works on what, as a port. A lease belongs to one member of a group at a time and ends by itself unless it is
 * renewed; its epoch rises with each new holder. Time is the store's: the members' clocks may differ.
 */
export interface Leases {
  /**
   * One exchange, all of it in one step: shows this member alive, renews all leases that it holds, gives some back and
   * takes others if they are free.
   */
  heartbeat(heartbeat: Heartbeat): Promise<GroupState>;
  /** Gives everything back and leaves the group. */
  leave(group: string, member: string): Promise<void>;
  /**
   * Calls `onChange` soon after a member came or left, or gave back, took or began with a lease, as best it can: it may miss some and
   * call for nothing. Returns how to stop that.
   */
  watch(group: string, onChange: () => void): () => void;
  /** The group as it is now. For whoever looks on: nothing is changed by it. */
  state(group: string): Promise<GroupState>;
}

export interface Heartbeat {
  readonly group: string;
  /** Unique in the fleet and new with each start of a process. */
  readonly member: string;
  /** After which the member and its leases count as gone, in milliseconds. */
  readonly ttlMs: number;
  /** Scopes that it gives back; those that it does not hold are ignored. */
  readonly release: readonly string[];
  /** Scopes that it wants; those that someone else holds stay with them. */
  readonly acquire: readonly string[];
  /** Scopes that it has begun to work on; told once for each tenure. Those that it does not hold are ignored. */
  readonly started?: readonly string[];
  /** It is about to leave: it keeps what it holds and does not give back, but is no member any more. */
  readonly leaving?: boolean;
}

/** The group as it is just after a heartbeat, or when somebody looks. */
export interface GroupState {
  readonly members: readonly string[];
  readonly leases: readonly Lease[];
}

export interface Lease {
  readonly scope: string;
  readonly holder: string;
  /**
   * At least the milliseconds since the Unix epoch, by the store's clock, at which it was taken: so it rises even if the
   * store has forgotten the one before.
   */
  readonly fencingToken: number;
  /** Whether its holder has begun to work on it. */
  readonly started: boolean;
}
