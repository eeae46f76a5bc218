import { type Clock, type Random, randomInteger, VirtualClock } from '@sluice/platform';
import { type GroupState, type Heartbeat, type Leases, MemoryLeases } from '@sluice/store';
import { Lua, MemoryRedis, memoryPorts } from '@sluice/store/redis/testing';
import { chance, holds, type ModelCheck, pick, same, some } from './model-check.ts';

const members = ['a', 'b', 'c'];
const scopes = ['0', '1', '2', '3'];
const serves = [undefined, ['0', '1'], ['2', '3', '0'], []];
const ttls = [900, 1_500];

interface ModelMember {
  readonly expiresAt: number;
  readonly leaving: boolean;
  readonly stalled: readonly string[];
  readonly serves: readonly string[] | undefined;
}

interface ModelLease {
  readonly holder: string;
  readonly token: number;
  started: boolean;
  preparedBy: string | undefined;
}

let lua: Promise<Lua> | undefined;

/** Members acquire, start, prepare and release leases, and expire. Each answer is that of one server that does one request at a time. */
export const leasesCheck: ModelCheck = {
  invariant: 'a lease has one holder',
  async run(random) {
    const clock = new VirtualClock(1_000_000);
    const isRedis = chance(random, 0.6);
    lua ??= Lua.load();
    const server = new MemoryRedis({ lua: await lua, clock });
    const shared = new MemoryLeases(clock);
    const open = () => (isRedis ? memoryPorts({ server, clock, fleet: 'model' }).leases : shared);
    const world = new LeaseWorld(random, clock, new Map(members.map((member) => [member, open()])));
    for (let n = 0; n < 40; n++) {
      // Never exactly when something expires.
      clock.step(clock.now() + 10 * randomInteger(random, 1, 60) + 3);
      await world.step();
    }
  },
};

class LeaseWorld {
  readonly #random: Random;
  readonly #clock: Clock;
  readonly #ports: ReadonlyMap<string, Leases>;
  readonly #members = new Map<string, ModelMember>();
  readonly #leases = new Map<string, ModelLease>();
  readonly #tokens = new Map<string, number>();
  /** What each version stands for. */
  readonly #versions = new Map<string, string>();

  constructor(random: Random, clock: Clock, ports: ReadonlyMap<string, Leases>) {
    this.#random = random;
    this.#clock = clock;
    this.#ports = ports;
  }

  async step(): Promise<void> {
    const random = this.#random;
    const member = pick(random, members);
    const port = this.#ports.get(member) as Leases;
    this.#expire();
    if (chance(random, 0.1)) {
      await port.leave('writer', member);
      this.#members.delete(member);
      this.#expire();
    } else if (chance(random, 0.8)) await this.#heartbeat(port, member);
    const { members: found, leases } = await port.state('writer');
    same('members that an observer sees', [...found].sort(), this.#active());
    same('leases that an observer sees', shown(leases), this.#shown());
  }

  async #heartbeat(port: Leases, member: string): Promise<void> {
    const random = this.#random;
    const [release, acquire] = [some(random, scopes, 0.15), some(random, scopes, 0.3)];
    // Reported of leases that a former answer contained.
    const others = scopes.filter((scope) => !acquire.includes(scope) && !release.includes(scope));
    const heartbeat: Heartbeat = {
      ...{ group: 'writer', member, ttlMs: pick(random, ttls), release, acquire },
      ...{ started: some(random, others, 0.3), prepared: some(random, others, 0.3) },
      leaving: chance(random, 0.1),
      stalled: chance(random, 0.2) ? some(random, ['*bus', '1'], 0.6) : [],
      serves: pick(random, serves),
    };
    this.#apply(heartbeat);
    const state = await port.heartbeat(heartbeat);
    same('members', [...state.members].sort(), this.#active());
    for (const { scope, fencingToken } of state.leases) {
      const before = this.#tokens.get(scope) ?? 0;
      const lease = this.#leases.get(scope);
      const isNew = lease !== undefined && lease.token < 0;
      if (isNew) {
        holds(
          `the fencing token of ${scope} does not increase`,
          fencingToken > before && fencingToken >= this.#clock.now() - 1_000,
        );
        this.#leases.set(scope, { ...lease, token: fencingToken });
        this.#tokens.set(scope, fencingToken);
      }
    }
    same('leases', shown(state.leases), this.#shown());
    this.#checkRest(state, heartbeat);
  }

  #checkRest(state: GroupState, { member }: Heartbeat): void {
    const active = [...this.#members].filter(([, { leaving }]) => !leaving);
    const stalled = active
      .filter(([, one]) => one.stalled.length > 0)
      .map(([name, one]) => [name, [...one.stalled].sort()]);
    same(
      'stalled members',
      [...(state.stalled ?? [])].map(([name, on]) => [name, [...on].sort()]).sort(),
      stalled.sort(),
    );
    const served = active.flatMap(([name, one]) => (one.serves === undefined ? [] : [[name, [...one.serves].sort()]]));
    same(
      'scopes that members serve',
      [...(state.serves ?? [])].map(([name, of]) => [name, [...of].sort()]).sort(),
      served.sort(),
    );
    const others = [...this.#members].filter(([name]) => name !== member);
    const first = Math.min(...others.map(([, { expiresAt }]) => expiresAt));
    const inMs = first - this.#clock.monotonic();
    if (others.length === 0) same('the next expiry', state.nextExpiry, undefined);
    else
      holds(
        `the next expiry is in ${state.nextExpiry?.inMs} ms instead of ${inMs} ms`,
        Math.abs((state.nextExpiry?.inMs ?? -1) - inMs) <= 2,
      );
    const version = String(state.version);
    const { nextExpiry: _next, version: _version, unreadable: _unreadable, ...rest } = state;
    const content = JSON.stringify([shown(rest.leases), [...rest.members].sort(), stalled, served]);
    same(`what version ${version} stands for`, content, this.#versions.get(version) ?? content);
    this.#versions.set(version, content);
  }

  #apply({
    member,
    ttlMs,
    release,
    acquire,
    started = [],
    prepared = [],
    leaving = false,
    stalled = [],
    serves,
  }: Heartbeat): void {
    this.#members.set(member, { expiresAt: this.#clock.monotonic() + ttlMs, leaving, stalled, serves });
    for (const scope of release) if (this.#leases.get(scope)?.holder === member) this.#leases.delete(scope);
    for (const scope of started) {
      const lease = this.#leases.get(scope);
      if (lease?.holder === member) lease.started = true;
    }
    for (const scope of prepared) {
      const lease = this.#leases.get(scope);
      if (lease !== undefined && lease.holder !== member) lease.preparedBy = member;
    }
    for (const scope of acquire)
      if (!this.#leases.has(scope))
        this.#leases.set(scope, { holder: member, token: -1, started: false, preparedBy: undefined });
  }

  #expire(): void {
    for (const [name, { expiresAt }] of this.#members)
      if (expiresAt <= this.#clock.monotonic()) this.#members.delete(name);
    for (const [scope, { holder }] of this.#leases) if (!this.#members.has(holder)) this.#leases.delete(scope);
  }

  #active(): readonly string[] {
    return [...this.#members].flatMap(([name, { leaving }]) => (leaving ? [] : [name])).sort();
  }

  #shown(): readonly string[] {
    return shown([...this.#leases].map(([scope, { token, ...lease }]) => ({ scope, fencingToken: token, ...lease })));
  }
}

const shown = (leases: GroupState['leases']): readonly string[] =>
  leases
    .map(({ scope, holder, fencingToken, started, preparedBy }) =>
      JSON.stringify([scope, holder, fencingToken, started, preparedBy]),
    )
    .sort();
