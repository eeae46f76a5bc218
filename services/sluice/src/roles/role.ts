import type { Bus } from '@sluice/bus';
import { Ownership, type OwnershipOptions } from '@sluice/ownership';
import type { Clock, Logger, Random } from '@sluice/runtime';
import type { DeadLetters, GroupState, Leases, Store } from '@sluice/store';
import type { Tracer } from '@sluice/telemetry';
import type { Configuration } from '../configuration/configuration.ts';

/** What the roles of a fleet share. */
export interface Infrastructure {
  readonly bus: Bus;
  readonly store: Store;
  readonly leases: Leases;
  readonly deadLetters: DeadLetters;
}

export interface RoleOptions extends Infrastructure {
  /** Unique in the fleet and new with each start of a process. */
  readonly member: string;
  readonly leaseTimes: Configuration['leases'];
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
  /** Undefined: nothing is traced. */
  readonly tracer?: Tracer | undefined;
  readonly onGroup?: (group: string, state: GroupState) => void;
  readonly onDeadLetter?: (topic: 'changes' | 'mutations') => void;
}

/** Keeps this process's share of the group's scopes until `signal` aborts and all of it is handed over. */
export function own(
  options: RoleOptions,
  share: Pick<OwnershipOptions, 'group' | 'scopes' | 'work'>,
  signal: AbortSignal,
): Promise<void> {
  const { leases, member, leaseTimes, clock, random, logger, onGroup } = options;
  const told = (state: GroupState) => onGroup?.(share.group, state);
  return new Ownership({ leases, member, ...leaseTimes, clock, random, logger, onGroup: told, ...share }).run(signal);
}

/** The partitions of a topic as scopes of a group. */
export function partitionScopes({ partitions }: Bus): readonly string[] {
  return Array.from({ length: partitions }, (_, partition) => String(partition));
}
