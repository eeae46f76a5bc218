import { type Clock, sleep } from '@sluice/platform';
import type { KeepAliveOptions } from '../index.ts';
import type { LeaseThreadLine, LeaseThreadRequest } from './lease-thread.ts';
import { RenewalCells } from './renewal-cells.ts';

interface LeaseRenewerOptions {
  /** Renews the member's leases if it still holds all of them, and returns whether it does. */
  readonly renew: (options: KeepAliveOptions, leases: readonly (readonly [string, number])[]) => Promise<boolean>;
  readonly clock: Clock;
  readonly log: (line: LeaseThreadLine) => void;
}

interface Group {
  readonly options: KeepAliveOptions;
  readonly cells: RenewalCells;
  leases: readonly (readonly [string, number])[];
  /** No heartbeat has been answered for too long. */
  silent: boolean;
  /** A renewal is in flight. */
  renewing: boolean;
}

/**
 * A heartbeat is late once the last one that was answered is older than this, in periods. While heartbeats arrive in time, each takes a little more
 * than a period. A lease lasts long enough to try the renewal several times after that.
 */
const latePeriods = 1.5;

/**
 * The lease thread's side: renews the leases of each group while the main thread is late, but not for longer than
 * `maxSilenceMs` after its last answered heartbeat: the event loop may be blocked, or the store may not answer it.
 */
export class LeaseRenewer {
  readonly #options: LeaseRenewerOptions;
  readonly #groups = new Map<number, Group>();
  #running = false;

  constructor(options: LeaseRenewerOptions) {
    this.#options = options;
  }

  handle(request: Exclude<LeaseThreadRequest, { kind: 'secrets' }>): void {
    if (request.kind === 'start') {
      const cells = new RenewalCells(request.cells);
      const group: Group = { options: request.options, cells, leases: [], silent: false, renewing: false };
      this.#groups.set(request.id, group);
      if (!this.#running) void this.#run();
      return;
    }
    const group = this.#groups.get(request.id);
    if (group === undefined) return;
    if (request.kind === 'hold') {
      group.leases = request.leases;
      return;
    }
    this.#groups.delete(request.id);
  }

  /** One timer for all groups: a process has one of each cluster. */
  async #run(): Promise<void> {
    this.#running = true;
    while (this.#groups.size > 0) {
      await sleep(this.#options.clock, Math.min(...this.#groups.values().map((group) => this.#pauseMs(group))));
      for (const group of this.#groups.values()) {
        if (!group.renewing && this.#isDue(group)) void this.#renew(group);
      }
    }
    this.#running = false;
  }

  /** Time until the group's heartbeat is late, so that it is noticed at once; half a period if it is late already, to try again. */
  #pauseMs(group: Group): number {
    const untilLateMs = this.#lateAt(group) - this.#options.clock.monotonic();
    return untilLateMs > 0 ? Math.max(1, untilLateMs) : group.options.periodMs / 2;
  }

  #lateAt({ cells, options }: Group): number {
    return Math.max(cells.renewedAt, cells.heartbeatAt) + latePeriods * options.periodMs;
  }

  /** False before the first heartbeat, while the main thread renews in time, and when its heartbeats have not been answered for too long. */
  #isDue(group: Group): boolean {
    const { cells, options } = group;
    if (cells.heartbeatAt === Number.NEGATIVE_INFINITY) return false;
    const now = this.#options.clock.monotonic();
    const silentMs = now - cells.heartbeatAt;
    const silent = silentMs > options.maxSilenceMs;
    if (silent && !group.silent) {
      const fields = { group: options.group, silent: `${Math.round(silentMs)}ms` };
      this.#options.log({ level: 'warn', message: 'no heartbeat answered; leases are not renewed', fields });
    }
    group.silent = silent;
    return !silent && now >= this.#lateAt(group);
  }

  async #renew(group: Group): Promise<void> {
    const { options, cells, leases } = group;
    const sentAt = this.#options.clock.monotonic();
    group.renewing = true;
    try {
      if (await this.#options.renew(options, leases)) cells.renewedAt = sentAt;
    } catch {
      // The leases expire unless a later renewal succeeds; the connection's loss is logged.
    } finally {
      group.renewing = false;
    }
  }
}
