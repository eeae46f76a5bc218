import { countAddresses, endpointsWriter } from '@sluice/controllers';
import type { PlannedMutations } from '@sluice/messages';
import type { Mutation } from '@sluice/model';

/**
 * Decides when a request runs: the lowest `priority` value first. Runs a waiting request at once when `signal` aborts.
 */
export interface RequestLimit {
  /** By how much requests take longer than with spare capacity, in milliseconds. Default: unknown. */
  readonly excessMs?: number;
  run<T>(priority: number, request: () => Promise<T>, signal: AbortSignal): Promise<T>;
}

export const unlimited: RequestLimit = { run: (_priority, request) => request() };

/**
 * At most `max` concurrent requests: lowest `priority` first, then in order of arrival. If `signal` aborts while a request
 * waits, it runs at once, so that it can fail with its own reason.
 */
export class FixedLimit implements RequestLimit {
  readonly #max: number;
  readonly #queue = new PriorityQueue<() => void>();
  #inFlight = 0;

  constructor(max: number) {
    this.#max = max;
  }

  async run<T>(priority: number, request: () => Promise<T>, signal: AbortSignal): Promise<T> {
    if (this.#inFlight < this.#max) this.#inFlight++;
    else if (!(await this.#wait(priority, signal))) return request();
    try {
      return await request();
    } finally {
      const next = this.#queue.take();
      // The next request inherits the slot, so that no other one takes it first.
      if (next === undefined) this.#inFlight--;
      else next();
    }
  }

  /** Resolves to false if `signal` aborts first. */
  #wait(priority: number, signal: AbortSignal): Promise<boolean> {
    return new Promise((resolve) => {
      if (signal.aborted) return resolve(false);
      const onAbort = () => {
        remove();
        resolve(false);
      };
      const remove = this.#queue.add(priority, () => {
        signal.removeEventListener('abort', onAbort);
        resolve(true);
      });
      signal.addEventListener('abort', onAbort, { once: true });
    });
  }
}

interface Entry<T> {
  readonly priority: number;
  readonly item: T;
}

/** Queue ordered by ascending `priority`, then by order of arrival. */
export class PriorityQueue<T> {
  /** Sorted in reverse, so that taking is O(1). */
  readonly #entries: Entry<T>[] = [];

  get size(): number {
    return this.#entries.length;
  }

  /** Returns a function that removes the item. */
  add(priority: number, item: T): () => void {
    let from = 0;
    let to = this.#entries.length;
    while (from < to) {
      const middle = (from + to) >>> 1;
      if ((this.#entries[middle]?.priority ?? 0) > priority) from = middle + 1;
      else to = middle;
    }
    const entry = { priority, item };
    this.#entries.splice(from, 0, entry);
    return () => {
      const index = this.#entries.indexOf(entry);
      if (index >= 0) this.#entries.splice(index, 1);
    };
  }

  take(): T | undefined {
    return this.#entries.pop()?.item;
  }
}

/**
 * Divides the requests that a process may have in flight among the clusters that have any, in equal shares of at least one. A
 * cluster that does not respond keeps its own share only, so it delays no other.
 */
export class FairShare {
  readonly #total: number;
  #active = 0;

  constructor(total: number) {
    this.#total = total;
  }

  /** Requests that each active cluster may have in flight. */
  get current(): number {
    return Math.ceil(this.#total / Math.max(1, this.#active));
  }

  /** Call when a cluster has its first request, and the returned function once, when it has none left. */
  enter(): () => void {
    this.#active += 1;
    return () => {
      this.#active -= 1;
    };
  }
}

/** Cost of an endpoint in a write, and of the write itself, in milliseconds of delay. */
const endpointMs = 1;
const requestMs = 10;
/** Delay of Endpoints relative to slices, because traffic follows slices. */
const endpointsMs = 500;
/** Caps for the delay and for the waiting time. The latter bounds the effect of clock skew. */
const maxDelayMs = 10_000;
const maxWaitMs = 60_000;

/**
 * Priority of a plan's requests among those of its cluster; the lowest value goes first. It is the time of the plan's
 * earliest cause plus a delay that grows with the plan's size. A small change passes a slightly older large one, but no
 * plan starves: changes more than `maxDelayMs` newer come after it.
 */
export function writePriority(plan: PlannedMutations, now: number): number {
  const since = Math.min(now, Math.max(now - maxWaitMs, plan.causes.first[0]?.observedAt ?? now));
  const sizeMs = plan.groups.reduce((sum, { mutations }) => sum + mutations.reduce((ms, m) => ms + costMs(m), 0), 0);
  const lessUrgentMs = plan.controller === endpointsWriter ? endpointsMs : 0;
  return since + Math.min(maxDelayMs, sizeMs + lessUrgentMs);
}

function costMs(mutation: Mutation): number {
  return requestMs + endpointMs * endpointsIn(mutation);
}

function endpointsIn(mutation: Mutation): number {
  if (mutation.verb === 'delete') return 0;
  if (mutation.resource === 'endpointslices') return mutation.object.endpoints?.length ?? 0;
  return countAddresses(mutation.object.subsets ?? []);
}

interface Cooldown {
  /** Each millisecond that requests take too long adds this many to the cooldown. */
  readonly factor: number;
  readonly maxMs: number;
}

const ofEndpoints: Cooldown = { factor: 50, maxMs: 2_000 };
/** A larger factor delays changes on a slightly overloaded server; a longer cooldown leaves an overloaded one idle at times (ADR 0023). */
const ofSlices: Cooldown = { factor: 2, maxMs: 500 };

/**
 * How long, in milliseconds, the controller of a plan should leave its Service alone because the API server of the cluster is saturated.
 * `excessMs`: by how much requests take longer than they would with spare capacity.
 *
 * A plan that waits for a slot does not include what changes meanwhile, so it is better to wait before the decision. Endpoints give way to
 * slices: they hold what slices hold, each write carries all addresses, and traffic follows slices.
 * Only updates count: at a start, the creates of all Services wait for each other, although no Service changes often.
 */
export function saturationCooldownMs(
  { controller, groups }: Pick<PlannedMutations, 'controller' | 'groups'>,
  excessMs: number,
): number {
  const { factor, maxMs } = controller === endpointsWriter ? ofEndpoints : ofSlices;
  const updates = groups.some(({ mutations }) => mutations.some(({ verb }) => verb === 'update'));
  return updates ? Math.min(maxMs, Math.round(factor * excessMs)) : 0;
}
