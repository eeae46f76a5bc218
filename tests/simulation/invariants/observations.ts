import { type PlanId, partitionOf } from '@sluice/messages';
import type { GroupState } from '@sluice/store';
import { leaseTimes } from '../fleet.ts';
import type { Violations } from '../violations.ts';
import type { Conditions } from './conditions.ts';

interface Acquisition {
  readonly holder: string;
  readonly fencingToken: number;
}

interface HeldLease extends Acquisition {
  readonly started: boolean;
}

/** Leases, plans and Outcomes as they pass the ports, shared by the invariants. */
export class Observations {
  readonly conditions: Conditions;
  readonly now: () => number;
  /** By group and scope. */
  readonly #leases = new Map<string, HeldLease>();
  /** The last acquisition of each lease, also if it was released. */
  readonly #tokens = new Map<string, Acquisition>();
  /** When the store last executed a heartbeat, by group and member. */
  readonly #heartbeats = new Map<string, number>();
  readonly #violations: Violations;

  constructor(conditions: Conditions, now: () => number, violations: Violations) {
    this.conditions = conditions;
    this.now = now;
    this.#violations = violations;
  }

  group(name: string, member: string, { leases }: GroupState): void {
    this.#heartbeats.set(`${name} ${member}`, this.now());
    for (const { scope, holder, fencingToken } of leases) this.#checkToken(`${name} ${scope}`, holder, fencingToken);
    for (const key of [...this.#leases.keys()]) if (key.startsWith(`${name} `)) this.#leases.delete(key);
    for (const { scope, holder, fencingToken, started } of leases)
      this.#leases.set(`${name} ${scope}`, { holder, fencingToken, started });
  }

  /** Each acquisition of a lease has a higher fencing token. */
  #checkToken(lease: string, holder: string, fencingToken: number): void {
    const last = this.#tokens.get(lease);
    this.#tokens.set(lease, { holder, fencingToken });
    if (!this.conditions.isIntact || last === undefined || fencingToken > last.fencingToken) return;
    if (fencingToken === last.fencingToken && holder === last.holder) return;
    this.#violations.report(
      'fencing tokens increase',
      `${holder} acquires ${lease} under ${fencingToken} after ${last.holder} under ${last.fencingToken}`,
    );
  }

  lease(group: string, scope: string): HeldLease | undefined {
    return this.#leases.get(`${group} ${scope}`);
  }

  /** Whether the member's leases have expired in the store. */
  hasExpired(group: string, member: string): boolean {
    const at = this.#heartbeats.get(`${group} ${member}`) ?? Number.NEGATIVE_INFINITY;
    return this.now() > at + leaseTimes.ttlMs;
  }

  partitionOf(key: string): number {
    return partitionOf(key, this.conditions.partitions);
  }
}

/** Identifies a plan: its number is unique in its partition. */
export const planName = (partition: number, { epoch, number }: PlanId): string => `${partition}/${epoch}/${number}`;
