import { countAddresses, endpointsWriter } from '@sluice/controllers';
import type { PlannedMutations } from '@sluice/messages';
import type { Mutation } from '@sluice/model';

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
