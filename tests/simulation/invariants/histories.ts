import { type Heartbeat, isFencedError, type Leases, type Store } from '@sluice/store';
import type { Violations } from '../violations.ts';
import { areCommitsLinearizable, type ScopeRequest } from './commit-history.ts';
import { areLeasesLinearizable, type LeaseRequest, type LeaseTimes } from './lease-history.ts';
import type { Operation } from './linearizability.ts';

/** A request, and its answer once there is one. */
interface Recorded<T> extends Operation<T> {
  returnedAt: number;
  operation: T;
}

/** The requests for leases and commits before the first loss, as their senders saw them, in the order of requests and answers. */
export class Histories {
  readonly #now: () => number;
  readonly #onHeartbeat: (heartbeat: Heartbeat, sentAt: number) => void;
  /** Whether the store has lost nothing so far: it is one object for each lease and each checkpoint. */
  readonly #isIntact: () => boolean;
  /** By group. */
  readonly #leases = new Map<string, Recorded<LeaseRequest>[]>();
  /** By scope. */
  readonly #commits = new Map<string, Recorded<ScopeRequest>[]>();
  #events = 0;

  /** `onHeartbeat` is called with each heartbeat that is answered, and when it was sent. */
  constructor(now: () => number, isIntact: () => boolean, onHeartbeat: (heartbeat: Heartbeat, sentAt: number) => void) {
    this.#now = now;
    this.#isIntact = isIntact;
    this.#onHeartbeat = onHeartbeat;
  }

  leases(leases: Leases): Leases {
    const send = (group: string, member: string, heartbeat?: Heartbeat): Recorded<LeaseRequest> => {
      const unanswered = { answeredAt: Number.POSITIVE_INFINITY, answer: undefined };
      return this.#sent(listAt(this.#leases, group), { member, heartbeat, sentAt: this.#now(), ...unanswered });
    };
    return {
      heartbeat: async (heartbeat) => {
        const recorded = send(heartbeat.group, heartbeat.member, heartbeat);
        const answer = await leases.heartbeat(heartbeat);
        this.#returned(recorded, { answeredAt: this.#now(), answer });
        this.#onHeartbeat(heartbeat, recorded.operation.sentAt);
        return answer;
      },
      leave: async (group, member) => {
        const recorded = send(group, member);
        await leases.leave(group, member);
        this.#returned(recorded, { answeredAt: this.#now() });
      },
      state: (group) => leases.state(group),
      watch: (group, onChange) => leases.watch(group, onChange),
    };
  }

  store(store: Store): Store {
    const send = (scope: string, fencingToken: number, commit?: ScopeRequest['commit']): Recorded<ScopeRequest> =>
      this.#sent(listAt(this.#commits, scope), { fencingToken, commit, result: 'unknown', found: null });
    const fenced = (recorded: Recorded<ScopeRequest>) => (error: unknown) => {
      if (isFencedError(error)) this.#returned(recorded, { result: 'fenced' });
      throw error;
    };
    return {
      claim: async (scope, fencingToken) => {
        const recorded = send(scope, fencingToken);
        const state = await store.claim(scope, fencingToken).catch(fenced(recorded));
        this.#returned(recorded, { result: 'done', found: state.checkpoint });
        return state;
      },
      commit: async (commit) => {
        const { scope, fencingToken, expectedOffset, checkpoint } = commit;
        const recorded = send(scope, fencingToken, { expectedOffset, checkpoint });
        await store.commit(commit).catch(fenced(recorded));
        this.#returned(recorded, { result: 'done' });
      },
      find: (...args) => store.find(...args),
      setIfAbsent: (...args) => store.setIfAbsent(...args),
      checkpoint: (...args) => store.checkpoint(...args),
    };
  }

  /** Reports each scope whose answers no order of its requests explains. */
  check(times: LeaseTimes, violations: Violations): void {
    for (const [group, requests] of this.#leases)
      for (const scope of scopesOf(requests))
        if (!areLeasesLinearizable(requests, scope, times))
          violations.report('leases are linearizable', `no order of requests explains who held ${group} ${scope}`);
    for (const [scope, requests] of this.#commits)
      if (!areCommitsLinearizable(requests))
        violations.report('commits are linearizable', `no order of requests explains the checkpoints of ${scope}`);
  }

  #sent<T>(history: Recorded<T>[], operation: T): Recorded<T> {
    const recorded = { calledAt: ++this.#events, returnedAt: Number.POSITIVE_INFINITY, operation };
    if (this.#isIntact()) history.push(recorded);
    return recorded;
  }

  #returned<T>(recorded: Recorded<T>, answer: Partial<T>): void {
    // An answer after a loss may be of another store.
    if (!this.#isIntact()) return;
    recorded.returnedAt = ++this.#events;
    recorded.operation = { ...recorded.operation, ...answer };
  }
}

function listAt<T>(lists: Map<string, T[]>, key: string): T[] {
  const known = lists.get(key) ?? [];
  lists.set(key, known);
  return known;
}

/** All scopes for which a member has asked, or which one held. */
function scopesOf(requests: readonly Recorded<LeaseRequest>[]): ReadonlySet<string> {
  const scopes = new Set<string>();
  for (const { operation } of requests) {
    for (const scope of operation.heartbeat?.acquire ?? []) scopes.add(scope);
    for (const { scope } of operation.answer?.leases ?? []) scopes.add(scope);
  }
  return scopes;
}
