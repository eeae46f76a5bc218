import type { Topic } from '@sluice/bus';
import type { Fault } from '@sluice/fake-apiserver';
import { type Random, randomInteger } from '@sluice/platform';
import { type AppendFaults, noAppendFaults } from './doubles/faulty-bus.ts';
import type { Cut } from './doubles/reach.ts';
import type { SimulatedLog } from './doubles/simulated-bus.ts';
import type { Link, Peer, Server } from './doubles/simulated-process.ts';
import { leaseTimes, type Member, type Role, replacedWithinMs } from './fleet.ts';
import { logFaults } from './log-faults.ts';
import { operationFaults } from './operation-faults.ts';
import { replace } from './replace.ts';
import type { FaultKind } from './scenario.ts';
import type { SimulatedCluster } from './simulated-cluster.ts';
import type { World } from './world.ts';

export interface Injected {
  /** How long it lasts, in milliseconds. */
  readonly forMs: number;
  readonly what: string;
  /** The only cluster that it may delay. Default: any. */
  readonly only?: SimulatedCluster;
  /** How long clients wait after that until they list again, in milliseconds. Default: not at all. */
  readonly retryMs?: number;
}

/** Injects a fault. */
export function inject(kind: FaultKind, random: Random, world: World): Injected {
  const injected = faults[kind](random, world);
  return injected ?? { forMs: 0, what: `${kind} without effect` };
}

type Inject = (random: Random, world: World) => Injected | undefined;

const topics: readonly Topic[] = ['changes', 'mutations', 'requests'];
/** Few requests are sent, and most faults of theirs have no effect. */
const busyTopics: readonly Topic[] = ['changes', 'changes', 'mutations', 'mutations', 'requests'];
const takeOverMs = 2 * leaseTimes.ttlMs;
/** A member gives up what it makes no progress on, and others start it (ADR 0081). */
const noProgressMs = 5_000 + takeOverMs;

const faults: Readonly<Record<FaultKind, Inject>> = {
  kill: (random, world) => end('kill', random, world),
  stop: (random, world) => end('stop', random, world),
  start(random, { fleet, clusters }) {
    const role = pick(random, ['watcher', 'reconciler', 'writer'] as const);
    if (fleet.members.length > 12) return undefined;
    const { name } = fleet.start(role, randomInteger(random, 0, clusters.length - 1));
    return { forMs: takeOverMs, what: `start ${name}` };
  },
  freeze: (random, world) => freeze('freeze', random, world),
  pause: (random, world) => freeze('pause', random, world),
  'clock step'(random, world) {
    const member = anyMember(random, world);
    if (member === undefined) return undefined;
    const ms = pick(random, [-60_000, -2_000, -100, 100, 2_000, 60_000]);
    if (!member.process.stepClock(ms)) return undefined;
    return { forMs: takeOverMs, what: `set the clock of ${member.name} by ${ms} ms` };
  },
  'slow link'(random, world) {
    const member = anyMember(random, world);
    if (member === undefined) return undefined;
    const peer = pick<Peer>(random, ['bus', 'store', 'store', 'cluster']);
    const link: Link = { requestMs: latency(random), responseMs: latency(random) };
    member.process.setLink(peer, link);
    const forMs = duration(random);
    world.clock.schedule(forMs, () => member.process.setLink(peer, undefined));
    return {
      forMs: forMs + takeOverMs,
      what: `${member.name} to ${peer}: ${link.requestMs} ms there, ${link.responseMs} ms back`,
    };
  },
  'requests wait'(random, world) {
    const member = anyMember(random, world, 'writer');
    if (member === undefined) return undefined;
    const longestMs = randomInteger(random, 50, 2 * leaseTimes.ttlMs);
    const how = pick(random, ['freeze', 'pause', 'slow link'] as const);
    const stillMs = randomInteger(random, leaseTimes.ttlMs, 2 * leaseTimes.ttlMs);
    // The leases expire while the first request waits.
    member.outgoing.wait(longestMs, () => {
      if (how === 'slow link') member.process.setLink('store', { requestMs: stillMs, responseMs: 0 });
      else member.process[how]();
      world.clock.schedule(stillMs, () => {
        member.process.thaw();
        if (how === 'slow link') member.process.setLink('store', undefined);
      });
    });
    const forMs = duration(random);
    world.clock.schedule(forMs, () => member.outgoing.wait(0));
    return {
      forMs: forMs + stillMs + longestMs + takeOverMs,
      what: `requests of ${member.name} wait up to ${longestMs} ms, then ${how} for ${stillMs} ms`,
    };
  },
  'watch lag'(random, world) {
    const member = anyMember(random, world, 'watcher');
    if (member === undefined) return undefined;
    const lagMs = randomInteger(random, 50, 3_000);
    member.process.setWatchLag(lagMs);
    const forMs = duration(random);
    world.clock.schedule(forMs, () => member.process.setWatchLag(0));
    return { forMs: forMs + lagMs, what: `${member.name} sees watch events ${lagMs} ms late` };
  },
  'request errors'(random, world) {
    const probability = 0.1 + 0.5 * random.next();
    return forRequests(random, world, [
      { verb: 'update', error: 'conflict', probability: probability / 2 },
      { verb: 'delete', error: 'conflict', probability: probability / 2 },
      ...(['create', 'update', 'delete', 'get'] as const).flatMap((verb): Fault[] => [
        { verb, error: 'resetAfter', probability: probability / 2 },
        { verb, error: 'reset', probability: probability / 3 },
        { verb, error: pick(random, ['internal', 'unavailable', 'tooManyRequests']), probability: probability / 3 },
      ]),
    ]);
  },
  'late requests'(random, world) {
    const probability = 0.3 + 0.6 * random.next();
    const lateMs = () => randomInteger(random, 10, 5_000);
    return forRequests(
      random,
      world,
      (['create', 'update', 'delete'] as const).map((verb) => ({ verb, error: 'late', lateMs: lateMs(), probability })),
    );
  },
  'wrong answers'(random, world) {
    const probability = 0.3 + 0.6 * random.next();
    const error = pick(random, ['plainNotFound', 'foreignNotFound'] as const);
    const verbs = ['create', 'update', 'delete', 'get', 'list', 'watch'] as const;
    return forRequests(
      random,
      world,
      verbs.map((verb) => ({ verb, error, probability })),
    );
  },
  'malformed object'(random, world) {
    const cluster = anyCluster(random, world);
    const forMs = duration(random);
    const name = cluster.malform(random, forMs);
    if (name === undefined) return undefined;
    return { forMs, what: `${cluster.name} has malformed ${name} for ${forMs} ms`, only: cluster };
  },
  'watch errors'(random, world) {
    const cluster = anyCluster(random, world);
    for (let n = randomInteger(random, 1, 3); n > 0; n--) {
      world.clock.schedule(randomInteger(random, 0, 3_000), () => {
        if (random.next() < 0.6) cluster.server.compact();
        cluster.server.cutWatches(random.next() < 0.5 ? 'reset' : 'end');
      });
    }
    return forRequests(random, world, [
      { verb: 'watch', error: pick(random, ['gone', 'reset', 'end', 'unavailable']), probability: 0.5, afterEvents: 1 },
      { verb: 'list', error: pick(random, ['gone', 'unavailable', 'reset']), probability: 0.4 },
      { verb: 'list', error: 'stale', behind: randomInteger(random, 1, 20), probability: 0.5 },
    ]);
  },
  'slow API server': (random, world) =>
    forRequests(random, world, [
      { latencyMs: randomInteger(random, 10, 2_000), probability: 0.5 },
      { error: 'tooManyRequests', probability: 0.2 * random.next() },
    ]),
  'failing append': (random, world) =>
    forAppends(random, world, { fail: 0.6 * random.next(), failInPart: 0.2 + 0.4 * random.next() }),
  'append reported as failed': (random, world) => forAppends(random, world, { failAfter: 0.2 + 0.6 * random.next() }),
  'slow append': (random, world) => forAppends(random, world, { delay: 0.5 }),
  'connections broken'(random, { clock, log }) {
    log.breakConnections?.(0.05 + 0.3 * random.next());
    const forMs = duration(random);
    clock.schedule(forMs, () => log.breakConnections?.(0));
    return { forMs: forMs + 5_000, what: `break connections to the bus for ${forMs} ms` };
  },
  'cut off from the store': (random, world) => cutOff(random, world, () => 'store', 2 * takeOverMs),
  'cut off from the bus': (random, world) => cutOff(random, world, () => 'bus', noProgressMs),
  'cut off from an API server': (random, world) =>
    cutOff(random, world, () => `cluster/${anyCluster(random, world).name}`, noProgressMs),
  'duplicate append': (random, world) => forAppends(random, world, { duplicate: 0.5 }),
  'failing store': (random, world) => forStore(random, world, 'before'),
  'commit reported as failed': (random, world) => forStore(random, world, 'after'),
  'namespace deletion'(random, world) {
    const cluster = anyCluster(random, world);
    const name = cluster.deleteNamespace(random);
    const forMs = randomInteger(random, 200, 4_000);
    world.clock.schedule(forMs, () => cluster.recreateNamespace(name));
    return { forMs, what: `delete the namespace ${name} of ${cluster.name}`, only: cluster };
  },
  'lost append': (random, world) => forAppends(random, world, { lose: 0.1 + 0.4 * random.next() }),
  'store restarted': (_, { store }) => {
    store.restart();
    return { forMs: takeOverMs, what: 'restart the store' };
  },
  'store wiped'(_, world) {
    world.store.wipe();
    // The next lease gets a higher fencing token even if it is acquired immediately.
    world.clock.skipTo(world.clock.now() + 1);
    return { forMs: takeOverMs, what: 'wipe the store' };
  },
  'store rolled back'(random, { store, clock, backups }) {
    // A replica that lags takes over, or an old backup is restored.
    const lagMs = random.next() < 0.5 ? randomInteger(random, 1, 1_500) : 0;
    const backup = lagMs > 0 ? store.backup() : pick(random, backups);
    clock.schedule(lagMs, () => backup.restore());
    return {
      forMs: lagMs + takeOverMs,
      what: lagMs > 0 ? `roll back the store by ${lagMs} ms` : 'roll back the store',
    };
  },
  'scope rolled back'(random, { store, backups }) {
    const scope = pick(random, store.scopes.length === 0 ? ['reconciler/0'] : store.scopes);
    pick(random, backups).restoreScope(scope);
    return { forMs: takeOverMs, what: `roll back ${scope}` };
  },
  'leases lost'(_, world) {
    world.store.loseLeases();
    world.clock.skipTo(world.clock.now() + 1);
    return { forMs: takeOverMs, what: 'lose the leases' };
  },
  'store clock set back': (random, world) => stepStoreClock(-randomInteger(random, 100, 3_000), world),
  'store clock set ahead': (random, world) => stepStoreClock(randomInteger(random, 100, 60_000), world),
  'log purged': (random, world) => forLogs(random, world, 'purge', (log) => log.purge()),
  'log recreated': (random, world) => forLogs(random, world, 'recreate', (log) => log.recreate()),
  'log truncated': (random, world) =>
    forLogs(random, world, 'truncate', (log) => log.loseLast(randomInteger(random, 1, 10))),
  ...logFaults,
  ...operationFaults,
  'byte limit reached'(random, world) {
    const bytes = randomInteger(random, 5_000, 12_000);
    const forMs = duration(random);
    const { what } = forLogs(random, world, `limit to ${bytes} bytes`, (log) => {
      log.limitBytes(bytes);
      world.clock.schedule(forMs, () => log.limitBytes(undefined));
    });
    return { forMs: forMs + 1_000, what: `${what} for ${forMs} ms` };
  },
  'stored value unreadable': (random, world) =>
    damage(random, world, 'make a value unreadable', (scope) => world.store.corrupt(scope, random)),
  'stored value changed': (random, world) =>
    damage(random, world, 'replace a value', (scope) => world.store.replaceValue(scope, random)),
  'lease changed': (random, { store }) => {
    const what = store.changeLease?.(random);
    return what === undefined ? undefined : { forMs: takeOverMs, what: `replace ${what} of the leases` };
  },
  'empty lists'(random, world) {
    const cluster = anyCluster(random, world);
    const forMs = duration(random);
    cluster.faults.add({ verb: 'list', error: 'empty' });
    // Before and after that, all clients list again: nothing else corrects a list that was accepted.
    cluster.expireWatches();
    world.clock.schedule(forMs, () => {
      cluster.faults.clear();
      cluster.expireWatches();
    });
    return { forMs: forMs + 5_000, what: `${cluster.name} lists no objects for ${forMs} ms` };
  },
  'message of another version'(random, { clock, log }) {
    const topic = pick(random, ['changes', 'mutations'] as const);
    const partition = randomInteger(random, 0, log.partitions - 1);
    const known = log.log(topic, partition).last;
    if (known === undefined || known.headers['Sluice-Chunk'] !== undefined) return undefined;
    const message = { ...JSON.parse(new TextDecoder().decode(known.payload)), version: '2.0' };
    const payload = new TextEncoder().encode(JSON.stringify(message));
    const append = () =>
      void log.append(topic, partition, [{ ...known, id: `${known.id}/of-version-2/${clock.now()}`, payload }]);
    append();
    const again = randomInteger(random, 0, 2);
    for (let n = 1; n <= again; n++) clock.schedule(n * 1_500, append);
    const forMs = again * 1_500;
    return { forMs, what: `append ${1 + again} messages of another major version to ${topic}/${partition}` };
  },
  'etcd restored'(random, world) {
    const cluster = anyCluster(random, world);
    // A third of the restores happens while no watcher runs.
    const unwatched = random.next() < 0.3 ? world.fleet.membersOf('watcher') : [];
    for (const member of unwatched) {
      world.fleet.end(member, 'kill');
      replace(member, random, world);
    }
    cluster.restoreBackup();
    const how = unwatched.length > 0 ? ' while no watcher runs' : '';
    return { forMs: 5_000 + replacedWithinMs, what: `restore etcd of ${cluster.name}${how}` };
  },
};

/** One member alone does not reach a server for good; another one is there to do its work, which takes it over within this time. */
function cutOff(random: Random, world: World, serverOf: () => Server, forMs: number) {
  const member = anyMember(random, world);
  if (member === undefined) return undefined;
  const server = serverOf();
  const how = pick<Cut>(random, ['refused', 'silent', 'unanswered']);
  member.process.cutOff(server, how);
  world.fleet.start(member.role, member.cluster);
  return { forMs, what: `cut ${member.name} off from the ${server} for good (${how})` };
}

/** Changes a stored value. One is read by the next owner only, so a member is replaced. */
function damage(random: Random, world: World, what: string, act: (scope: string) => void) {
  const scope = pick(random, world.store.scopes.length === 0 ? ['reconciler/0'] : world.store.scopes);
  act(scope);
  const member = anyMember(random, world);
  if (member === undefined) return undefined;
  world.fleet.end(member, 'kill');
  replace(member, random, world);
  return { forMs: replacedWithinMs + takeOverMs, what: `${what} of ${scope} and kill ${member.name}` };
}

function end(how: 'kill' | 'stop', random: Random, world: World) {
  const member = anyMember(random, world);
  if (member === undefined) return undefined;
  world.fleet.end(member, how);
  replace(member, random, world);
  return { forMs: replacedWithinMs + takeOverMs, what: `${how} ${member.name}` };
}

function freeze(how: 'freeze' | 'pause', random: Random, world: World) {
  const member = anyMember(random, world);
  if (member === undefined) return undefined;
  if (how === 'freeze') member.process.freeze();
  else if (!member.process.pause()) return undefined;
  const forMs = randomInteger(random, 100, 3 * leaseTimes.ttlMs);
  world.clock.schedule(forMs, () => member.process.thaw());
  return { forMs: forMs + takeOverMs, what: `${how} ${member.name} for ${forMs} ms` };
}

function forRequests(random: Random, world: World, given: readonly Fault[]) {
  const only = anyCluster(random, world);
  for (const fault of given) only.faults.add(fault);
  const isLasting = world.clusters.length > 1 && random.next() < 0.4;
  const forMs = isLasting ? lastingMs : duration(random);
  // Half of the lasting faults leave every request without an answer; the last one gets it that much later.
  const latencyMs = isLasting && random.next() < 0.5 ? lastingMs : 0;
  if (latencyMs > 0) only.faults.add({ latencyMs });
  world.clock.schedule(forMs, () => only.faults.clear());
  const what = given.map(({ verb = 'any', error = 'latency' }) => `${verb} ${error}`).join(', ');
  const injected = { forMs: forMs + latencyMs + 5_000, what: `${only.name} for ${forMs} ms: ${what}`, only };
  return isLasting ? { ...injected, retryMs: longestBackoffMs } : injected;
}

function forAppends(random: Random, world: World, given: Partial<AppendFaults>) {
  const topic = pick(random, busyTopics);
  world.bus.setFaults(topic, { ...noAppendFaults, ...given });
  const forMs = duration(random);
  world.clock.schedule(forMs, () => world.bus.setFaults(topic, noAppendFaults));
  return { forMs: forMs + 5_000, what: `${topic} for ${forMs} ms: ${JSON.stringify(given)}` };
}

function forStore(random: Random, world: World, when: 'before' | 'after') {
  const probability = 0.1 + 0.4 * random.next();
  world.storeFaults.set({ when, probability });
  const forMs = duration(random);
  world.clock.schedule(forMs, () => world.storeFaults.set(undefined));
  return { forMs: forMs + 5_000, what: `the store fails ${when} a request takes effect for ${forMs} ms` };
}

function stepStoreClock(ms: number, { store }: World) {
  store.stepClock?.(ms);
  return { forMs: takeOverMs + Math.max(0, -ms), what: `set the clock of the store by ${ms} ms` };
}

/** One partition, one topic, or everything. */
function forLogs(random: Random, { log }: World, what: string, act: (log: SimulatedLog) => void) {
  const only = random.next() < 0.5 ? randomInteger(random, 0, log.partitions - 1) : undefined;
  const topic = random.next() < 0.7 ? pick(random, topics) : undefined;
  for (const name of topics) {
    if (topic !== undefined && name !== topic) continue;
    for (let partition = 0; partition < log.partitions; partition++) {
      if (only === undefined || only === partition) act(log.log(name, partition));
    }
  }
  return {
    forMs: 1_000,
    what: `${what} ${topic ?? 'all topics'}, ${only === undefined ? 'all partitions' : `partition ${only}`}`,
  };
}

function anyMember(random: Random, { fleet }: World, role?: Role): Member | undefined {
  const members = role === undefined ? fleet.members : fleet.membersOf(role);
  return members[Math.floor(random.next() * members.length)];
}

const anyCluster = (random: Random, { clusters }: World): SimulatedCluster => pick(random, clusters);

/** Longer than a Service of another cluster may be wrong without a loss, in milliseconds. */
const lastingMs = 40_000;

/** Longest time between two lists that fail, in milliseconds. */
const longestBackoffMs = 30_000;

const duration = (random: Random): number => randomInteger(random, 300, 4_000);

/** Sometimes longer than a lease lasts. */
function latency(random: Random): number {
  const chance = random.next();
  if (chance < 0.3) return 0;
  return randomInteger(random, 1, chance < 0.6 ? 2 * leaseTimes.ttlMs : 700);
}

function pick<T>(random: Random, from: readonly T[]): T {
  const chosen = from[Math.floor(random.next() * from.length)];
  if (chosen === undefined) throw new RangeError('cannot pick from an empty list');
  return chosen;
}
