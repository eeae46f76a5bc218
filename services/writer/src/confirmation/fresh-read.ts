import { type ClusterWriter, isApiError, type RawObject, type Resource } from '@sluice/kubernetes';
import { MalformedObjectError, type Pod } from '@sluice/model';
import type { Clock } from '@sluice/platform';

/** Quorum read of an object. Returns null if it does not exist. */
export type FreshRead = (resource: Resource, name: string) => Promise<RawObject | null>;

/** Why the cluster does not confirm a change. */
export interface Contradiction {
  readonly text: string;
  /** The change was right when it was decided: decide again, and park nothing. */
  readonly overtaken: boolean;
}

/** Reads objects of a namespace, and Nodes. */
export function freshReads(cluster: Pick<ClusterWriter, 'get'>, namespace: string, signal: AbortSignal): FreshRead {
  return async (resource, name) => {
    try {
      return await cluster.get(resource, resource === 'nodes' ? '' : namespace, name, signal);
    } catch (error) {
      if (isApiError(error) && error.kind === 'notFound') return null;
      throw error;
    }
  };
}

/** Undefined if the object does not exist. An object that cannot be decoded exists: it never confirms anything. */
export function decode<T>(project: (raw: unknown) => T, raw: RawObject | null): T | 'undecodable' | undefined {
  if (raw === null) return undefined;
  try {
    return project(raw);
  } catch (error) {
    if (error instanceof MalformedObjectError) return 'undecodable';
    throw error;
  }
}

/** Whether this very Pod is running and ready. */
export function serves(pod: Pod, uid: string): boolean {
  return pod.uid === uid && pod.ready && !pod.terminating && !pod.terminal;
}

/**
 * Result of checking a change against the cluster. `overtaken`: the cluster contradicts the change, but may have changed
 * since it was decided.
 */
export type CheckResult = 'confirmed' | 'refuted' | 'unknown' | 'overtaken';

const windowMs = 60_000;
/** After this many confirmations in a row, only one plan in `interval` is checked. */
const checksUntilSampling = 20;
const interval = 10;

/**
 * Chooses which plans to check. A wrong list is wrong in most plans that follow from it, so a sample finds it for a tenth of
 * the requests.
 */
export class CheckSampling {
  readonly #clock: Pick<Clock, 'monotonic'>;
  /** Confirmations in a row, each within a minute of the previous one. */
  #confirmed = 0;
  #confirmedAt = Number.NEGATIVE_INFINITY;
  /** Plans that passed unchecked since the last check. */
  #unchecked = 0;

  constructor(clock: Pick<Clock, 'monotonic'>) {
    this.#clock = clock;
  }

  isDue(): boolean {
    const isFresh = this.#clock.monotonic() - this.#confirmedAt < windowMs;
    if (!isFresh || this.#confirmed < checksUntilSampling) return true;
    this.#unchecked = (this.#unchecked + 1) % interval;
    return this.#unchecked === 0;
  }

  record(result: CheckResult): void {
    if (result === 'confirmed') {
      const now = this.#clock.monotonic();
      this.#confirmed = now - this.#confirmedAt < windowMs ? this.#confirmed + 1 : 1;
      this.#confirmedAt = now;
    } else this.#confirmed = 0;
  }
}
