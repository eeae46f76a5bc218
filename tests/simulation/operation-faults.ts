import type { Topic } from '@sluice/bus';
import { type Random, randomInteger } from '@sluice/platform';
import { noAppendFaults } from './doubles/faulty-bus.ts';
import type { Operation, Place, Strike } from './doubles/operations.ts';
import { leaseTimes, type Member } from './fleet.ts';
import { replace } from './replace.ts';
import type { World } from './world.ts';

/** A strike that no operation has met by then is cancelled, in milliseconds. */
const armedMs = 4_000;
const takeOverMs = 2 * leaseTimes.ttlMs;
/** How long a commit is on its way at most, in milliseconds. */
const commitMs = 3 * leaseTimes.ttlMs;

/** Between a claim and the next read, a plan and the commit that follows it, a commit and the release of its records. */
const places: readonly Operation[] = [
  'claimed',
  'taken over',
  'committed',
  'changes appended',
  'plans appended',
  'plans appended',
];

/** They occur in few runs unless something causes them. */
const rare: readonly Operation[] = ['claimed', 'taken over', 'page listed', 'create unanswered'];

/** Faults that strike where two steps belong together, instead of at a time. */
export const operationFaults = {
  'kill at an operation': (random: Random, world: World) =>
    at(pick(random, [...places, 'committing', 'page listed']), random, world, ({ member }) => {
      end(memberOf(member, world), random, world);
      return undefined;
    }),
  'freeze at an operation': (random: Random, world: World) =>
    at(pick(random, [...places, 'page listed']), random, world, ({ member }) => {
      freeze(memberOf(member, world), random, world);
      return undefined;
    }),
  /** The commit of a member that has lost its lease executes when the next owner has claimed the scope. */
  'commit after the next claim': (random: Random, world: World) =>
    at('committing', random, world, async (place) => {
      freeze(memberOf(place.member, world), random, world);
      await world.operations.claimedByOther(place, commitMs);
    }),
  'unanswered creates'(random: Random, world: World) {
    const cluster = pick(random, world.clusters);
    const lateMs = randomInteger(random, 10, 5_000);
    const error = pick(random, ['late', 'resetAfter'] as const);
    cluster.faults.add({ verb: 'create', resource: 'endpointslices', error, lateMs, times: 2 });
    cluster.deleteSlices(random);
    const act = pick(random, [end, freeze]);
    const { forMs, what } = at('create unanswered', random, world, ({ member }) => {
      act(memberOf(member, world), random, world);
      return undefined;
    });
    world.clock.schedule(armedMs, () => cluster.faults.clear());
    return { forMs: forMs + lateMs, what: `${what}, two creates in ${cluster.name}: ${error}` };
  },
  'change during a list': (random: Random, world: World) =>
    at('page listed', random, world, () => {
      const cluster = pick(random, world.clusters);
      for (let n = randomInteger(random, 1, 3); n > 0; n--) cluster.act(random);
      if (random.next() < 0.5) cluster.server.compact();
      return undefined;
    }),
  'log loss at an operation': (random: Random, world: World) =>
    at(pick(random, places), random, world, ({ scope }) => {
      const { log } = world;
      const [role = '', number = ''] = scope.split('/');
      const topic: Topic = role === 'reconciler' ? 'changes' : role === 'writer' ? 'mutations' : 'requests';
      const one = log.log(topic, role === 'watcher' ? 0 : Number(number));
      const chance = random.next();
      if (chance < 0.3) one.purge();
      else if (chance < 0.6) one.loseLast(randomInteger(random, 1, 5));
      else {
        const end = one.end().offset;
        one.recreate();
        if (chance < 0.8) one.startAt(end);
      }
      return undefined;
    }),
  'store loss at an operation': (random: Random, world: World) =>
    at(pick(random, places), random, world, ({ scope }) => {
      if (random.next() < 0.4) world.store.restart();
      else pick(random, world.backups).restoreScope(scope);
      return undefined;
    }),
  /** Plans are dropped and decided again while the API server still executes the requests of former ones. */
  'plans pile up'(random: Random, { bus, clock, clusters }: World) {
    const forMs = randomInteger(random, 1_000, 4_000);
    const cluster = pick(random, clusters);
    for (const verb of ['create', 'update', 'delete'] as const)
      cluster.faults.add({ verb, latencyMs: randomInteger(random, 200, 3_000), probability: 0.8 });
    bus.setFaults('changes', { ...noAppendFaults, lose: 0.5 });
    clock.schedule(forMs, () => {
      cluster.faults.clear();
      bus.setFaults('changes', noAppendFaults);
    });
    for (let n = 1; n <= 4; n++) clock.schedule((n * forMs) / 5, () => cluster.act(random));
    return { forMs: forMs + 5_000, what: `slow writes of ${cluster.name} and lost Changes for ${forMs} ms` };
  },
};

/** Arms a strike, and has the operation occur soon where it is rare. */
function at(operation: Operation, random: Random, world: World, strike: Strike) {
  const { clock, operations } = world;
  const isRare = rare.includes(operation);
  const cancel = operations.arm(operation, isRare ? 0 : randomInteger(random, 0, 3), strike);
  clock.schedule(armedMs, cancel);
  if (operation === 'claimed' || operation === 'taken over') end(anyMember(random, world), random, world);
  if (operation === 'page listed') {
    for (const { server } of world.clusters) {
      server.compact();
      server.cutWatches('reset');
    }
  }
  return { forMs: armedMs + commitMs + takeOverMs, what: `strike at an operation: ${operation}` };
}

function end(member: Member | undefined, random: Random, world: World): void {
  if (member === undefined) return;
  world.fleet.end(member, 'kill');
  replace(member, random, world);
}

function freeze(member: Member | undefined, random: Random, { clock }: World): void {
  if (member === undefined) return;
  member.process.freeze();
  clock.schedule(randomInteger(random, 100, commitMs), () => member.process.thaw());
}

const memberOf = (name: Place['member'], { fleet }: World): Member | undefined =>
  fleet.members.find((member) => member.name === name);

function anyMember(random: Random, { fleet }: World): Member | undefined {
  const { members } = fleet;
  return members[Math.floor(random.next() * members.length)];
}

function pick<T>(random: Random, from: readonly T[]): T {
  const chosen = from[Math.floor(random.next() * from.length)];
  if (chosen === undefined) throw new RangeError('cannot pick from an empty list');
  return chosen;
}
