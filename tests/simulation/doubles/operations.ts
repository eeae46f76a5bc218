import type { Bus } from '@sluice/bus';
import { isApiError, type ListPage, type Middleware } from '@sluice/kubernetes';
import { type Clock, sleep } from '@sluice/platform';
import type { Store } from '@sluice/store';

/**
 * Places at which a process is between two steps: the first has just taken effect, and the process does not know it yet. A commit
 * that is `committing` has left its process, and has not taken effect.
 */
export type Operation =
  | 'claimed'
  | 'taken over'
  | 'committing'
  | 'committed'
  | 'changes appended'
  | 'plans appended'
  | 'page listed'
  | 'create unanswered';

export interface Place {
  readonly member: string;
  /** The scope of a claim or a commit. */
  readonly scope: string;
}

/** Strikes once, at a place. What is returned delays the answer, or the commit. */
export type Strike = (place: Place) => Promise<void> | undefined;

interface Armed {
  readonly operation: Operation;
  readonly strike: Strike;
  /** Operations that pass before. */
  left: number;
}

/** While lists are to be struck, they have so few items per page. */
const itemsPerPage = 3;

/** What processes do at their ports, so that faults strike at operations instead of times. */
export class Operations {
  readonly #clock: Clock;
  readonly #onStrike: (operation: Operation, place: Place) => void;
  readonly #armed = new Set<Armed>();
  /** The last member to claim each scope. */
  readonly #owners = new Map<string, string>();
  /** Scopes in which the first commit after a take-over has not taken effect. */
  readonly #takenOver = new Set<string>();
  /** Unanswered creates in a row, by member. */
  readonly #unanswered = new Map<string, number>();
  #claims = Promise.withResolvers<void>();

  constructor(clock: Clock, onStrike: (operation: Operation, place: Place) => void) {
    this.#clock = clock;
    this.#onStrike = onStrike;
  }

  /** Has the strike happen at the next such operation but `skipped`. Returns the function that cancels it. */
  arm(operation: Operation, skipped: number, strike: Strike): () => void {
    const armed: Armed = { operation, strike, left: skipped };
    this.#armed.add(armed);
    return () => this.#armed.delete(armed);
  }

  /** Resolves when another member has claimed the scope, or after this time. */
  async claimedByOther({ member, scope }: Place, withinMs: number): Promise<void> {
    const late = new AbortController();
    const timeout = sleep(this.#clock, withinMs).then(() => late.abort());
    while (!late.signal.aborted && this.#owners.get(scope) === member)
      await Promise.race([this.#claims.promise, timeout]);
  }

  store(member: string, store: Store): Store {
    return {
      claim: async (scope, fencingToken) => {
        const state = await store.claim(scope, fencingToken);
        const before = this.#owners.get(scope);
        this.#owners.set(scope, member);
        if (before !== undefined && before !== member) this.#takenOver.add(scope);
        this.#claims.resolve();
        this.#claims = Promise.withResolvers();
        await this.#reached('claimed', { member, scope });
        return state;
      },
      commit: async (commit) => {
        const place = { member, scope: commit.scope };
        await this.#reached('committing', place);
        await store.commit(commit);
        await (this.#takenOver.delete(commit.scope)
          ? this.#reached('taken over', place)
          : this.#reached('committed', place));
      },
      find: (...args) => store.find(...args),
      setIfAbsent: (...args) => store.setIfAbsent(...args),
      checkpoint: (...args) => store.checkpoint(...args),
    };
  }

  bus(member: string, bus: Bus): Bus {
    return {
      partitions: bus.partitions,
      get limits() {
        return bus.limits;
      },
      append: async (topic, partition, records) => {
        const offsets = await bus.append(topic, partition, records);
        if (topic === 'changes') await this.#reached('changes appended', { member, scope: `reconciler/${partition}` });
        if (topic === 'mutations') await this.#reached('plans appended', { member, scope: `writer/${partition}` });
        return offsets;
      },
      read: (...args) => bus.read(...args),
      beginning: (...args) => bus.beginning(...args),
      end: (...args) => bus.end(...args),
      close: () => bus.close(),
    };
  }

  /** For the requests of a member to a cluster. */
  requests(member: string): Middleware {
    return async (request, next) => {
      if (request.verb === 'list') {
        const { options } = request;
        // A list without a limit, and one that only reads the current version, have one page.
        if (options.limit <= 1 || !this.#isArmed('page listed')) return next(request);
        const page = await next({ ...request, options: { ...options, limit: itemsPerPage } });
        if ((page as ListPage).continueToken !== '') await this.#reached('page listed', { member, scope: '' });
        return page;
      }
      if (request.verb !== 'create') return next(request);
      try {
        const answer = await next(request);
        this.#unanswered.delete(member);
        return answer;
      } catch (error) {
        const count = isApiError(error) && error.status === 0 ? (this.#unanswered.get(member) ?? 0) + 1 : 0;
        this.#unanswered.set(member, count);
        if (count === 2) await this.#reached('create unanswered', { member, scope: '' });
        throw error;
      }
    };
  }

  #isArmed(operation: Operation): boolean {
    for (const armed of this.#armed) if (armed.operation === operation) return true;
    return false;
  }

  #reached(operation: Operation, place: Place): Promise<void> | undefined {
    for (const armed of this.#armed) {
      if (armed.operation !== operation || armed.left-- > 0) continue;
      this.#armed.delete(armed);
      this.#onStrike(operation, place);
      return armed.strike(place);
    }
    return undefined;
  }
}
