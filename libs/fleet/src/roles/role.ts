import type { Bus, Delivery } from '@sluice/bus';
import { aborted, type Clock, type Logger, type Random, type YieldQueue } from '@sluice/platform';
import { countFencedErrors, countProblems, type Store } from '@sluice/store';
import type { Metrics, Tracer } from '@sluice/telemetry';
import type { Configuration } from '../configuration/index.ts';
import type { Infrastructure } from '../infrastructure/open-infrastructure.ts';
import { type HeldLease, Ownership, type OwnershipOptions } from '../ownership/index.ts';
import type { OwningRole, Reachability } from './reachability.ts';
import type { GroupHealth, RoleHealth } from './role-health.ts';

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
  /** Default: this process does not notice that it alone cannot reach a server. */
  readonly reachability?: Reachability;
  /** Default: no health checks. */
  readonly health?: RoleHealth;
  readonly onDeadLetter?: (topic: 'changes' | 'mutations') => void;
}

/** What a role does with a scope while it owns it. `store` counts commits that are rejected because the lease was lost. */
type ScopeWork = (lease: HeldLease, store: Store) => Promise<void>;

/** Scopes that all members of a group share, and the work on them. */
export interface Share {
  readonly role: OwningRole;
  readonly group: string;
  /** The same for every member. */
  readonly scopes: readonly string[];
  readonly work: ScopeWork;
}

/** Owns this process's share of the group's scopes until `signal` aborts and all leases are handed over. */
export function own(options: RoleOptions, { role, group, scopes, work }: Share, signal: AbortSignal): Promise<void> {
  const ownership = ownershipOf(options, { role, group, scopes, count: () => scopes.length, work });
  return ownership.run(signal);
}

/** A group whose members may serve different scopes. */
interface ServedGroup extends Pick<OwnershipOptions, 'handoverMs'> {
  readonly role: OwningRole;
  readonly group: string;
}

/** A scope that a process can serve. */
interface ServedScope {
  /** Name of the scope in metrics and logs. */
  readonly name: string;
  readonly work: ScopeWork;
  /**
   * Called at each heartbeat while the holder of the scope is late or hands it over: this process probably acquires it soon.
   * Resolves once work could start at once.
   */
  readonly prepare: () => Promise<void>;
}

/** This process's share of a group to which it adds the scopes that it can serve. */
export class ServedShare {
  readonly #scopes = new Map<string, ServedScope>();
  readonly #ownership: RunningOwnership;

  constructor(options: RoleOptions, group: ServedGroup) {
    this.#ownership = ownershipOf(options, {
      ...group,
      count: () => this.#scopes.size,
      nameOf: (scope) => this.#scopes.get(scope)?.name ?? scope,
      work: async (lease, store) => this.#scopes.get(lease.scope)?.work(lease, store),
      prepare: async (scope) => this.#scopes.get(scope)?.prepare(),
    });
  }

  /** Runs until `signal` aborts and all leases are handed over. */
  run(signal: AbortSignal): Promise<void> {
    return this.#ownership.run(signal);
  }

  /** Takes part in a scope until `signal` aborts. Resolves once work on it has stopped and its lease is released. */
  async serve(scope: string, served: ServedScope, signal: AbortSignal): Promise<void> {
    this.#scopes.set(scope, served);
    try {
      await this.#ownership.serve(scope, signal);
    } finally {
      this.#scopes.delete(scope);
    }
  }
}

interface Owned extends Pick<OwnershipOptions, 'group' | 'scopes' | 'handoverMs' | 'nameOf' | 'prepare'> {
  readonly role: OwningRole;
  readonly work: ScopeWork;
  /** Number of scopes in which this process takes part. */
  readonly count: () => number;
}

type RunningOwnership = Pick<Ownership, 'serve' | 'run'>;

/** Ownership with metrics and health. */
function ownershipOf(
  { store, leases, generation, member, leaseTimes, clock, random, logger, metrics, health, reachability }: RoleOptions,
  { role, work, count, ...owned }: Owned,
): RunningOwnership {
  const { group, nameOf = (scope) => scope } = owned;
  let groupHealth: GroupHealth | undefined;
  // Exposed as 0 from the start, so that rate() sees the first increase.
  const unreadable = metrics?.series('sluice_lease_unreadable_entries_total', { role });
  const ownership = new Ownership({
    leases,
    member,
    ...leaseTimes,
    clock,
    random,
    logger,
    ...owned,
    stalled: () => reachability?.stalled(role) ?? [],
    onHeartbeat: () => groupHealth?.heartbeat(),
    onGroup: (state) => {
      groupHealth?.observe(state);
      reachability?.observe(group, state);
      if (state.unreadable !== undefined) unreadable?.add(state.unreadable);
    },
    work: async (lease) => {
      // A process that was frozen may acquire leases of a generation that has ended meanwhile.
      if (generation !== undefined && !(await generation.isCurrent())) return aborted(lease.signal);
      if (metrics === undefined) return work(lease, store);
      const labels = { role, scope: nameOf(lease.scope) };
      const fenced = metrics.series('sluice_fencing_rejections_total', labels);
      const release = metrics.show(labels, {
        sluice_lease_held: () => 1,
        sluice_lease_fencing_token: () => lease.fencingToken,
      });
      const isCurrent = () => {
        const current = lease.isCurrent();
        // A caller that is not current drops its work, which counts as fenced.
        if (!current) fenced.add(1);
        return current;
      };
      try {
        await work(
          { ...lease, isCurrent },
          countFencedErrors(store, () => fenced.add(1)),
        );
      } finally {
        release();
      }
    },
  });
  return {
    serve: (scope, signal) => ownership.serve(scope, signal),
    async run(signal) {
      groupHealth = health?.group(group, count);
      try {
        await generation?.formerReleased(group, leaseTimes.ttlMs, signal);
        await ownership.run(signal);
      } finally {
        groupHealth?.close();
      }
    },
  };
}

/** For the metric; undefined if nothing checks the store's servers. */
export function storeProblemCounts({ storeProblems }: Infrastructure) {
  return storeProblems && (() => countProblems(storeProblems()));
}

/** The partitions of a topic as scopes of a group. */
export function partitionScopes({ partitions }: Bus): readonly string[] {
  return Array.from({ length: partitions }, (_, partition) => String(partition));
}

/** Stores a record that cannot be processed as a dead letter. */
export function deadLetter(
  { deadLetters, clock, onDeadLetter }: RoleOptions,
  topic: 'changes' | 'mutations',
  partition: number,
) {
  return (record: Delivery, reason: string): Promise<void> => {
    onDeadLetter?.(topic);
    const { id, key, headers, payload, offset } = record;
    return deadLetters.add({
      topic,
      partition,
      offset,
      deadLetteredAt: clock.now(),
      reason,
      record: { id, key, headers, payload },
    });
  };
}
