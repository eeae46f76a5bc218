import type { Heartbeat } from '@sluice/store';
import { leaseTimes, type Member } from '../fleet.ts';
import type { Violations } from '../violations.ts';
import type { World } from '../world.ts';
import type { Observations } from './observations.ts';

/** A healthy member gets its answers within this time, in milliseconds. */
const promptMs = 200;
/** A healthy member sends its heartbeats at most this far apart, in milliseconds. */
const apartMs = 2 * leaseTimes.heartbeatMs;
/** How long a scope may be without an owner while a member is healthy, in milliseconds. */
const freeMs = 4_000;
/** How long its work on a scope may take to start after the last fault, in milliseconds. */
const startMs = 5_000;

/** One member of a group, as its heartbeats show it. */
interface Health {
  /** Since when every heartbeat was sent in time, answered promptly, and reported progress on everything. */
  since: number;
  sentAt: number;
  answeredAt: number;
}

/** Every scope has an owner while a member of its group is healthy, and a healthy owner works on it. */
export class WorkingOwners {
  readonly #observations: Observations;
  readonly #violations: Violations;
  readonly #isSteady: () => boolean;
  /** By group, then member. */
  readonly #health = new Map<string, Map<string, Health>>();
  /** When a scope was last seen with an owner, by group and scope. */
  readonly #ownedAt = new Map<string, number>();
  /** When work on a scope was last seen to have started, or since when it is awaited. */
  readonly #startedAt = new Map<string, number>();

  /** `isSteady`: the clock by which leases expire was not set back so far, which makes those of dead members last longer. */
  constructor(observations: Observations, violations: Violations, isSteady: () => boolean) {
    this.#isSteady = isSteady;
    this.#observations = observations;
    this.#violations = violations;
  }

  /** A heartbeat that was sent then has been answered. */
  answered({ group, member, leaving, stalled = [] }: Heartbeat, sentAt: number): void {
    const now = this.#observations.now();
    const members = this.#health.get(group) ?? new Map<string, Health>();
    this.#health.set(group, members);
    const known = members.get(member);
    const isHealthy = leaving !== true && stalled.length === 0 && now - sentAt <= promptMs;
    const continues = isHealthy && known !== undefined && sentAt - known.sentAt <= apartMs;
    members.set(member, { since: continues ? known.since : now, sentAt, answeredAt: isHealthy ? now : 0 });
  }

  /** `members`: those that take part in the scope. `undisturbedSince`: when the last fault ended. */
  check(group: string, scope: string, members: readonly string[], undisturbedSince: number): void {
    const now = this.#observations.now();
    const name = `${group} ${scope}`;
    const lease = this.#observations.lease(group, scope);
    if (lease !== undefined && !this.#observations.hasExpired(group, lease.holder)) {
      this.#ownedAt.set(name, now);
      if (lease.started) this.#startedAt.set(name, now);
      else this.#checkStart(group, name, lease.holder, undisturbedSince);
      return;
    }
    this.#startedAt.delete(name);
    if (!this.#isSteady()) return;
    const ownedAt = this.#ownedAt.get(name) ?? now;
    this.#ownedAt.set(name, ownedAt);
    for (const member of members) {
      const freeFor = now - Math.max(ownedAt, this.#healthySince(group, member));
      if (freeFor > freeMs)
        this.#violations.report(
          'scopes have owners',
          `nobody holds ${name} for ${freeFor} ms, and ${member} is healthy`,
        );
    }
  }
  #checkStart(group: string, name: string, holder: string, undisturbedSince: number): void {
    const now = this.#observations.now();
    const startedAt = this.#startedAt.get(name) ?? now;
    this.#startedAt.set(name, startedAt);
    const idleFor = now - Math.max(startedAt, undisturbedSince, this.#healthySince(group, holder));
    if (idleFor > startMs)
      this.#violations.report(
        'owners work',
        `${holder} holds ${name}, is healthy and has not started for ${idleFor} ms`,
      );
  }

  /** Infinite if it is not. */
  #healthySince(group: string, member: string): number {
    const health = this.#health.get(group)?.get(member);
    const isHealthy = health !== undefined && this.#observations.now() - health.answeredAt <= apartMs;
    return isHealthy ? health.since : Number.POSITIVE_INFINITY;
  }
}

interface Checked extends Pick<World, 'clusters' | 'fleet'> {
  readonly owners: WorkingOwners;
  readonly partitions: number;
}

/** Checks the scopes of all roles. */
export function checkOwners(
  { owners, fleet, clusters, partitions }: Checked,
  undisturbedSince: number,
  listedAgainAt: number,
): void {
  const watchers = fleet.membersOf('watcher');
  for (const [index, { identity }] of clusters.entries()) {
    const members = watchers.filter(({ role, cluster }) => role === 'worker' || cluster === index);
    owners.check('watcher', identity, namesOf(members), Math.max(undisturbedSince, listedAgainAt));
  }
  for (const role of ['reconciler', 'writer'] as const) {
    const members = namesOf(fleet.membersOf(role));
    for (let partition = 0; partition < partitions; partition++)
      owners.check(role, String(partition), members, undisturbedSince);
  }
}

const namesOf = (members: readonly Member[]): readonly string[] => members.map(({ name }) => name);
