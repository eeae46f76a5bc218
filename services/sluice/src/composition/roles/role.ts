import type { Infrastructure } from '@sluice/backends';
import type { Bus } from '@sluice/bus';
import type { Configuration } from '@sluice/configuration';
import { type HeldLease, Ownership, type OwnershipOptions } from '@sluice/ownership';
import type { Clock, Logger, Random, YieldQueue } from '@sluice/runtime';
import type { Store } from '@sluice/store';
import type { Metrics, OwningRole, Tracer } from '@sluice/telemetry';
import { countFencedErrors } from './count-fenced-errors.ts';
import type { RoleHealth } from './role-health.ts';

export interface RoleOptions extends Infrastructure {
  /** Unique in the fleet and new with each start of a process. */
  readonly member: string;
  readonly leaseTimes: Configuration['leases'];
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
  /** Shared by all CPU-bound work of the process, so that it renews its leases in time. */
  readonly yieldQueue?: YieldQueue;
  /** Undefined: nothing is traced. */
  readonly tracer?: Tracer | undefined;
  /** Default: nobody counts. */
  readonly metrics?: Metrics;
  /** Default: nobody asks. */
  readonly health?: RoleHealth;
  readonly onDeadLetter?: (topic: 'changes' | 'mutations') => void;
}

/** What a role does with its share. */
export interface Share extends Pick<OwnershipOptions, 'group' | 'scopes'> {
  readonly role: OwningRole;
  /** `store` is the fleet's, with its refusals counted. */
  readonly work: (tenure: HeldLease, store: Store) => Promise<void>;
  /** How the scope is called in metrics. */
  readonly nameOf?: (scope: string) => string;
}

/** Keeps this process's share of the group's scopes until `signal` aborts and all of it is handed over. */
export async function own(
  { store, leases, member, leaseTimes, clock, random, logger, metrics, health }: RoleOptions,
  { role, group, scopes, work, nameOf = (scope) => scope }: Share,
  signal: AbortSignal,
): Promise<void> {
  const standing = health?.group(group, scopes.length);
  const ownership = new Ownership({
    ...{ leases, member, ...leaseTimes, clock, random, logger, group, scopes },
    onHeartbeat: () => standing?.heartbeat(),
    onGroup: (state) => standing?.observe(state),
    work: async (tenure) => {
      if (metrics === undefined) return work(tenure, store);
      const held = metrics.leases.hold(role, nameOf(tenure.scope), tenure.fencingToken);
      const isCurrent = () => {
        const current = tenure.isCurrent();
        // Whoever asks does nothing then.
        if (!current) held.fenced();
        return current;
      };
      try {
        await work({ ...tenure, isCurrent }, countFencedErrors(store, held.fenced));
      } finally {
        held.release();
      }
    },
  });
  try {
    await ownership.run(signal);
  } finally {
    standing?.close();
  }
}

/** The partitions of a topic as scopes of a group. */
export function partitionScopes({ partitions }: Bus): readonly string[] {
  return Array.from({ length: partitions }, (_, partition) => String(partition));
}
