import type { GroupState, Heartbeat, KeepAlive, KeepAliveOptions, Leases } from '@sluice/store';

interface OwnLease {
  readonly fencingToken: number;
  /** When the member released it, or learned that it has lost it. */
  endedAt: number;
}

/** What a member knows of its leases in a group. */
interface View {
  /** When the last heartbeat that was answered was sent. */
  renewedAt: number;
  readonly leases: Map<string, OwnLease>;
}

/**
 * The leases as their holders know them: from heartbeats that were answered, each of which renews them from when it was sent. The clock
 * of a process and its pauses add up to the time of the run, so deadlines are the same by either.
 */
export class OwnLeases {
  readonly #now: () => number;
  readonly #ttlMs: number;
  /** By group and member. */
  readonly #views = new Map<string, View>();

  constructor(now: () => number, ttlMs: number) {
    this.#now = now;
    this.#ttlMs = ttlMs;
  }

  /** The port of a process. */
  leases(leases: Leases): Leases {
    const { keepAlive } = leases;
    return {
      heartbeat: async (heartbeat) => {
        const sentAt = this.#now();
        this.#released(heartbeat.group, heartbeat.member, heartbeat.release);
        const state = await leases.heartbeat(heartbeat);
        this.#answered(heartbeat, state, sentAt);
        return state;
      },
      leave: (group, member) => {
        const { leases: held } = this.#viewOf(group, member);
        this.#released(group, member, [...held.keys()]);
        return leases.leave(group, member);
      },
      state: (group) => leases.state(group),
      watch: (group, onChange) => leases.watch(group, onChange),
      ...(keepAlive && { keepAlive: (options) => this.#keptAlive(options, keepAlive(options)) }),
    };
  }

  /** Why the member must not send for the scope; undefined: it may. */
  refusal(group: string, member: string, scope: string): string | undefined {
    const { renewedAt, leases } = this.#viewOf(group, member);
    const lateMs = this.#now() - renewedAt - this.#ttlMs;
    if (lateMs > 0) return `${lateMs} ms after its leases have expired by its own clock`;
    const endedAt = leases.get(scope)?.endedAt ?? Number.NEGATIVE_INFINITY;
    // An answer that has just arrived may not have stopped the work yet.
    return endedAt < this.#now() ? `without the lease of ${scope}` : undefined;
  }

  /** Whether it has not learned of the loss of the lease, which may have expired. */
  holds(group: string, member: string, scope: string): boolean {
    return this.#viewOf(group, member).leases.get(scope)?.endedAt === Number.POSITIVE_INFINITY;
  }

  /** Something else than a heartbeat, sent then, has renewed its leases. */
  renewed(group: string, member: string, sentAt: number): void {
    const view = this.#viewOf(group, member);
    view.renewedAt = Math.max(view.renewedAt, sentAt);
  }

  /** A member has another thread renew only leases that it knows to hold. */
  #keptAlive({ group, member }: KeepAliveOptions, keepAlive: KeepAlive): KeepAlive {
    const hold = (held: ReadonlyMap<string, number>) => {
      for (const [scope, lease] of this.#viewOf(group, member).leases) if (!held.has(scope)) this.#end(lease);
      keepAlive.hold(held);
    };
    return new Proxy(keepAlive, {
      get: (target, property) => (property === 'hold' ? hold : Reflect.get(target, property, target)),
    });
  }

  #viewOf(group: string, member: string): View {
    const name = `${group} ${member}`;
    const view = this.#views.get(name) ?? { renewedAt: Number.NEGATIVE_INFINITY, leases: new Map() };
    this.#views.set(name, view);
    return view;
  }

  #released(group: string, member: string, scopes: readonly string[]): void {
    const { leases } = this.#viewOf(group, member);
    for (const scope of scopes) this.#end(leases.get(scope));
  }

  #answered({ group, member }: Heartbeat, state: GroupState, sentAt: number): void {
    const view = this.#viewOf(group, member);
    view.renewedAt = Math.max(view.renewedAt, sentAt);
    const own = new Map(
      state.leases.flatMap(({ scope, holder, fencingToken }) => (holder === member ? [[scope, fencingToken]] : [])),
    );
    for (const [scope, lease] of view.leases) if (own.get(scope) !== lease.fencingToken) this.#end(lease);
    for (const [scope, fencingToken] of own) {
      if (view.leases.get(scope)?.fencingToken === fencingToken) continue;
      view.leases.set(scope, { fencingToken, endedAt: Number.POSITIVE_INFINITY });
    }
  }

  #end(lease: OwnLease | undefined): void {
    if (lease !== undefined) lease.endedAt = Math.min(lease.endedAt, this.#now());
  }
}
