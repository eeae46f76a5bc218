import type { Bus } from '@sluice/bus';
import type { Configuration } from '@sluice/configuration';
import { type HeldLease, Ownership, type OwnershipOptions } from '@sluice/ownership';
import { aborted, type Clock, type Logger, type Random, type YieldQueue } from '@sluice/runtime';
import { countFencedErrors, countProblems, type Store } from '@sluice/store';
import type { Metrics, OwningRole, Tracer } from '@sluice/telemetry';
import type { Infrastructure } from './infrastructure.ts';
import type { RoleHealth } from './role-health.ts';

export interface RoleOptions extends Infrastructure {
  /** Unique in the fleet and new with each start of a process. */
  readonly member: string;
  readonly leaseTimes: Configuration['leases'];
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
  /** Shared by all CPU-bound work of the process, so that heartbeats stay in time. */
  readonly yieldQueue?: YieldQueue;
  /** Default: no tracing. */
  readonly tracer?: Tracer | undefined;
  /** Default: no metrics. */
  readonly metrics?: Metrics;
  /** Default: no health checks. */
  readonly health?: RoleHealth;
  readonly onDeadLetter?: (topic: 'changes' | 'mutations') => void;
}

/** What a role owns, and the work it does with it. */
export interface Share extends Pick<OwnershipOptions, 'group' | 'scopes'> {
  readonly role: OwningRole;
  /** `store` counts commits that are rejected because the lease was lost. */
  readonly work: (lease: HeldLease, store: Store) => Promise<void>;
  /** Called while the holder of the scopes is late, at each heartbeat: this process probably acquires them soon. */
  readonly prepare?: () => void;
  /** Name of the scope in metrics. Default: the scope. */
  readonly nameOf?: (scope: string) => string;
}

/** Owns this process's share of the group's scopes until `signal` aborts and all leases are handed over. */
export async function own(
  { bus, store, leases, generation, member, leaseTimes, clock, random, logger, metrics, health }: RoleOptions,
  { role, group, scopes, work, prepare, nameOf = (scope) => scope }: Share,
  signal: AbortSignal,
): Promise<void> {
  const groupHealth = health?.group(group, scopes.length);
  const ownership = new Ownership({
    ...{ leases, member, ...leaseTimes, clock, random, logger, group, scopes },
    isConnected: () => bus.connected ?? true,
    onHeartbeat: () => groupHealth?.heartbeat(),
    onGroup: (state) => groupHealth?.observe(state),
    ...(prepare && { onLate: prepare }),
    work: async (lease) => {
      // A process that was frozen may acquire leases of a generation that has ended meanwhile.
      if (generation !== undefined && !(await generation.isCurrent())) return aborted(lease.signal);
      if (metrics === undefined) return work(lease, store);
      const held = metrics.leases.hold(role, nameOf(lease.scope), lease.fencingToken);
      const isCurrent = () => {
        const current = lease.isCurrent();
        // A caller that is not current drops its work, which counts as fenced.
        if (!current) held.fenced();
        return current;
      };
      try {
        await work({ ...lease, isCurrent }, countFencedErrors(store, held.fenced));
      } finally {
        held.release();
      }
    },
  });
  try {
    await generation?.formerReleased(group, signal);
    await ownership.run(signal);
  } finally {
    groupHealth?.close();
  }
}

/** For the metric; undefined if nothing checks the store's servers. */
export function storeProblemCounts({ storeProblems }: Infrastructure) {
  return storeProblems && (() => countProblems(storeProblems()));
}

/** The partitions of a topic as scopes of a group. */
export function partitionScopes({ partitions }: Bus): readonly string[] {
  return Array.from({ length: partitions }, (_, partition) => String(partition));
}
