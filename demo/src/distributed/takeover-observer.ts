import { type Clock, sleep } from '@sluice/platform';
import type { Lease, Leases } from '@sluice/store';

export interface Takeover {
  /** Number of leases that the process held when it exited. */
  readonly leases: number;
  /** Members that hold them now. */
  readonly holders: readonly string[];
  /** Time from the exit until work had started under the last of these leases, in milliseconds. */
  readonly tookMs: number;
}

export interface TakeoverObserverOptions {
  readonly leases: Pick<Leases, 'state' | 'watch'>;
  /** Groups in which a process may hold leases. */
  readonly groups: readonly string[];
  readonly clock: Clock;
}

/** Time between two reads of the leases, if no notification comes earlier, in milliseconds. */
const readPeriodMs = 250;

type HeldScope = Pick<Lease, 'holder' | 'started'>;

interface Pending {
  readonly scopes: readonly string[];
  readonly exitedAt: number;
  readonly isDead: (holder: string) => boolean;
  readonly done: (takeover: Takeover) => void;
}

/** Follows a fleet's leases and measures how long others take to continue the work of a process that exited. */
export class TakeoverObserver {
  readonly #options: TakeoverObserverOptions;
  readonly #pending = new Set<Pending>();
  readonly #watches = new Map<string, () => void>();
  /** Group and scope → its lease at the last read. */
  #held: ReadonlyMap<string, HeldScope> = new Map();
  #wake = new AbortController();

  constructor(options: TakeoverObserverOptions) {
    this.#options = options;
  }

  /** Runs until `signal` aborts. Reads that fail are repeated. */
  async run(signal: AbortSignal): Promise<void> {
    const wake = () => this.#wake.abort();
    signal.addEventListener('abort', wake, { once: true });
    try {
      while (!signal.aborted) {
        this.#wake = new AbortController();
        try {
          this.#held = await this.#read();
          for (const pending of this.#pending) this.#complete(pending);
        } catch {
          // The store is unavailable; the processes log that.
        }
        await sleep(this.#options.clock, readPeriodMs, this.#wake.signal);
      }
    } finally {
      signal.removeEventListener('abort', wake);
      for (const unwatch of this.#watches.values()) unwatch();
    }
  }

  /** Calls `done` once others work under all leases of the process that just exited; never if it held none. */
  exited(isDead: (holder: string) => boolean, done: (takeover: Takeover) => void): void {
    const scopes = [...this.#held].flatMap(([scope, { holder }]) => (isDead(holder) ? [scope] : []));
    if (scopes.length === 0) return;
    this.#pending.add({ scopes, exitedAt: this.#options.clock.monotonic(), isDead, done });
  }

  #complete(pending: Pending): void {
    const { scopes, exitedAt, isDead, done } = pending;
    const holders = new Set<string>();
    for (const scope of scopes) {
      const lease = this.#held.get(scope);
      if (lease === undefined || !lease.started || isDead(lease.holder)) return;
      holders.add(lease.holder);
    }
    this.#pending.delete(pending);
    const tookMs = Math.round(this.#options.clock.monotonic() - exitedAt);
    done({ leases: scopes.length, holders: [...holders], tookMs });
  }

  async #read(): Promise<ReadonlyMap<string, HeldScope>> {
    const { leases, groups } = this.#options;
    const held = new Map<string, HeldScope>();
    for (const group of groups) {
      if (!this.#watches.has(group))
        this.#watches.set(
          group,
          leases.watch(group, () => this.#wake.abort()),
        );
      const state = await leases.state(group);
      for (const { scope, ...lease } of state.leases) held.set(`${group}/${scope}`, lease);
    }
    return held;
  }
}
