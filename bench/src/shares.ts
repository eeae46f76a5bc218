import { randomBytes } from 'node:crypto';
import type { ServerProcess } from '@sluice/local';
import { silentLogger } from '@sluice/platform';
import { systemClock as clock } from '@sluice/platform/process';
import type { GroupState, Lease } from '@sluice/store';
import { openRedis, type RedisPorts } from '@sluice/store/redis';

const TTL_MILLISECONDS = 60_000;

/** Who owns what in a fleet, read from its store. Reading changes nothing: a member that is leaving gets no share. */
export class Shares {
  readonly #redis: RedisPorts;
  readonly #member = `bench-${randomBytes(4).toString('hex')}`;
  readonly #groups = new Set<string>();

  private constructor(redis: RedisPorts) {
    this.#redis = redis;
  }

  static async open(url: string): Promise<Shares> {
    return new Shares(await openRedis({ urls: [url], fleet: 'sluice' }, { clock, logger: silentLogger }));
  }

  async of(group: string): Promise<GroupState> {
    this.#groups.add(group);
    const nothing = { release: [], acquire: [], leaving: true };
    return this.#redis.leases.heartbeat({ group, member: this.#member, ttlMs: TTL_MILLISECONDS, ...nothing });
  }

  /** Scopes that the process owns. */
  async heldBy(group: string, { pid }: ServerProcess): Promise<readonly string[]> {
    const { leases } = await this.of(group);
    return leases.filter(({ holder }) => isOf(holder, pid)).map(({ scope }) => scope);
  }

  /** Fencing token of each lease, which rises with each acquisition. */
  async fencingTokens(group: string): Promise<ReadonlyMap<string, number>> {
    const { leases } = await this.#redis.leases.state(group);
    return new Map(leases.map(({ scope, fencingToken }) => [scope, fencingToken]));
  }

  /** Whether exactly these processes share all scopes evenly. */
  async areEven(group: string, processes: readonly ServerProcess[], scopes: number): Promise<boolean> {
    const { members, leases } = await this.of(group);
    if (members.length !== processes.length || leases.length !== scopes) return false;
    const most = Math.ceil(scopes / processes.length);
    const held = processes.map(({ pid }) => leases.filter(({ holder }: Lease) => isOf(holder, pid)).length);
    return held.every((count) => count <= most) && held.reduce((sum, count) => sum + count, 0) === scopes;
  }

  async close(): Promise<void> {
    for (const group of this.#groups) await this.#redis.leases.leave(group, this.#member);
    this.#redis.close();
  }
}

/** A member's name contains its role, host, process id and a random part. */
function isOf(member: string, pid: number | undefined): boolean {
  return pid !== undefined && member.split('-').at(-2) === String(pid);
}
