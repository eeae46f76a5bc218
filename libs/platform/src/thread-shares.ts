import type { Clock } from './clock.ts';
import type { Logger } from './logger.ts';
import { TokenBucket } from './token-bucket.ts';

interface ThreadSharesOptions {
  readonly clock: Clock;
  readonly logger: Logger;
  /** Resumes after pending timers and I/O. */
  readonly yieldQueue: YieldQueue;
}

/** Of one cluster, in milliseconds. */
export interface ThreadUse {
  readonly usedMs: number;
  /** Time for which its work has waited because other clusters had work. */
  readonly waitedMs: number;
}

/** Work without a pause, after which the event loop runs. */
const sliceMs = 8;
/** Share of the thread that one cluster may use while others have work. */
const share = 0.5;
/** Work that a cluster may do at once after a rest. */
const burstMs = 500;
/** A cluster has work until this long after its last. */
const contentionMs = 250;
/** Longest work that counts: a reader that does not ask for more does not work. */
const maxWorkMs = 50;
/** A cluster that has waited for this long is named in the log, at most once in `logPeriodMs`. */
const loggedWaitMs = 5_000;
const logPeriodMs = 60_000;

/**
 * Divides the thread among the clusters whose lists and watches it reads. One cluster alone may use all of it. While others have
 * work, it gets half, so that a flood of its events delays theirs by little. Waiting clusters do not read their sockets, so TCP
 * slows their servers down.
 */
export class ThreadShares {
  readonly #options: ThreadSharesOptions;
  readonly #shares = new Map<string, ThreadShare>();
  /** Work since the event loop last ran because of it. */
  #uninterrupted = 0;
  #latest: ThreadShare | undefined;
  #latestAt = Number.NEGATIVE_INFINITY;
  /** When another cluster than the latest has last worked. */
  #othersAt = Number.NEGATIVE_INFINITY;

  constructor(options: ThreadSharesOptions) {
    this.#options = options;
  }

  /** By the name of the cluster. */
  get uses(): ReadonlyMap<string, ThreadUse> {
    return this.#shares;
  }

  of(cluster: string): ThreadShare {
    const known = this.#shares.get(cluster);
    if (known !== undefined) return known;
    const added = new ThreadShare(cluster, this.#options, (by, ms, now) => this.#spend(by, ms, now));
    this.#shares.set(cluster, added);
    return added;
  }

  /** The cluster is no longer served. */
  forget(cluster: string): void {
    this.#shares.delete(cluster);
  }

  #spend(by: ThreadShare, ms: number, now: number): { readonly isContended: boolean; readonly turn?: Promise<void> } {
    if (this.#latest !== by) {
      this.#othersAt = this.#latestAt;
      this.#latest = by;
    }
    this.#latestAt = now;
    this.#uninterrupted += ms;
    const isContended = now - this.#othersAt < contentionMs;
    if (this.#uninterrupted < sliceMs) return { isContended };
    this.#uninterrupted = 0;
    return { isContended, turn: this.#options.yieldQueue.next() };
  }
}

type Spend = (
  by: ThreadShare,
  ms: number,
  now: number,
) => { readonly isContended: boolean; readonly turn?: Promise<void> };

/** What one cluster uses of the thread. */
export class ThreadShare implements ThreadUse {
  readonly #cluster: string;
  readonly #options: ThreadSharesOptions;
  readonly #spend: Spend;
  /** Work that may be done, in milliseconds. */
  readonly #credit: TokenBucket;
  #usedMs = 0;
  #waitedMs = 0;
  #loggedWaitedMs = 0;
  #loggedAt = Number.NEGATIVE_INFINITY;

  constructor(cluster: string, options: ThreadSharesOptions, spend: Spend) {
    this.#cluster = cluster;
    this.#options = options;
    this.#spend = spend;
    this.#credit = new TokenBucket(1_000 * share, options.clock.monotonic(), burstMs);
  }

  get usedMs(): number {
    return this.#usedMs;
  }

  get waitedMs(): number {
    return this.#waitedMs;
  }

  /** Counts work that has just been done. Undefined: the cluster may continue at once. */
  spend(elapsedMs: number): Promise<void> | undefined {
    const ms = Math.min(maxWorkMs, elapsedMs);
    const now = this.#options.clock.monotonic();
    this.#usedMs += ms;
    const { isContended, turn } = this.#spend(this, ms, now);
    // Work that delayed no other cluster leaves no debt.
    this.#credit.take(now, isContended ? ms : Math.min(ms, this.#credit.available(now)));
    const credit = this.#credit.available(now);
    return credit < 0 ? this.#wait(-credit / share) : turn;
  }

  async #wait(ms: number): Promise<void> {
    const { clock, logger } = this.#options;
    const since = clock.monotonic();
    await new Promise<void>((resolve) => void clock.schedule(Math.max(1, ms), resolve));
    const now = clock.monotonic();
    this.#waitedMs += now - since;
    const waitedMs = this.#waitedMs - this.#loggedWaitedMs;
    if (waitedMs < loggedWaitMs || now - this.#loggedAt < logPeriodMs) return;
    this.#loggedAt = now;
    this.#loggedWaitedMs = this.#waitedMs;
    logger.warn('cluster exceeds its share of the event loop; its events wait', {
      cluster: this.#cluster,
      waited: `${Math.round(waitedMs / 1_000)}s`,
    });
  }
}

/**
 * Lets CPU-bound tasks yield to the event loop, resuming one task at a time. Between two tasks, timers and I/O are handled.
 * Otherwise answers to many tasks that arrive together would all be processed before, for example, a lease renewal.
 */
export class YieldQueue {
  readonly #defer: (callback: () => void) => void;
  readonly #waiting: (() => void)[] = [];

  /** `defer` runs a callback after pending timers and I/O, as `setImmediate` does. */
  constructor(defer: (callback: () => void) => void) {
    this.#defer = defer;
  }

  /** Resolves when the caller may resume, after all earlier callers. */
  next(): Promise<void> {
    return new Promise((resolve) => {
      this.#waiting.push(resolve);
      if (this.#waiting.length === 1) this.#defer(this.#resumeNext);
    });
  }

  readonly #resumeNext = (): void => {
    this.#waiting.shift()?.();
    if (this.#waiting.length > 0) this.#defer(this.#resumeNext);
  };
}
