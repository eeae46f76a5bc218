import { type Bus, ByReferenceBus, type Delivery, LocalDeliveryBus, NetworkedBus, ObservedBus } from '@sluice/bus';
import { FakeClient } from '@sluice/fake-apiserver';
import { Reachability, type RoleOptions, type ServedShare } from '@sluice/fleet/roles';
import { type ClusterReader, type ClusterWriter, chainReader, chainWriter, type Middleware } from '@sluice/kubernetes';
import {
  type Clock,
  type Logger,
  type Random,
  randomInteger,
  seededRandom,
  type VirtualClock,
  YieldQueue,
} from '@sluice/platform';
import type { Settings } from '@sluice/service-state';
import { assertUsable, runReconcilerRole, runWatcherRole, runWriterRole, watcherShare, writable } from '@sluice/sluice';
import type { DeadLetters } from '@sluice/store';
import type { Metrics } from '@sluice/telemetry';
import type { FaultyBus } from './doubles/faulty-bus.ts';
import { FirstSnapshots } from './doubles/first-snapshots.ts';
import type { Operations } from './doubles/operations.ts';
import { OutgoingRequests } from './doubles/outgoing-requests.ts';
import { SimulatedProcess } from './doubles/simulated-process.ts';
import type { SimulatedStore } from './doubles/simulated-store.ts';
import type { StoreFaults } from './doubles/store-faults.ts';
import { wireCluster } from './doubles/wire-connection.ts';
import { withoutEpochs } from './doubles/without-epochs.ts';
import { withoutExpiry } from './doubles/without-expiry.ts';
import type { FailurePaces } from './invariants/failure-paces.ts';
import type { Histories } from './invariants/histories.ts';
import type { OwnLeases } from './invariants/own-leases.ts';
import type { Layer, ProcessKind, WireKind } from './scenario.ts';
import type { SimulatedCluster } from './simulated-cluster.ts';

/** Shorter than in production, so that a run sees several take-overs. */
export const leaseTimes = { ttlMs: 1_500, heartbeatMs: 450 };
/** Shorter than in production, so that digests are stored while users act. */
const digestQuietPeriodMs = 500;
/** How long a member waits at most until another one replaces it, in milliseconds. */
export const replacedWithinMs = 2_000;

/** Shorter than in production, so that partitions of a member that does not stop are taken over within every bound. */
const gracePeriodMs = 10_000;

/** Longest interval of the ticks at which a process acts; those of another process are at other times. */
const longestTickMs = 5_000;

/** A worker watches all clusters, and does the work of the other roles too. */
export type Role = 'watcher' | 'reconciler' | 'writer' | 'worker';

export interface FleetOptions {
  readonly processes: ProcessKind;
  readonly wire: WireKind;
  readonly clusters: readonly SimulatedCluster[];
  readonly clock: VirtualClock;
  readonly seed: number;
  readonly random: Random;
  readonly settings: Settings;
  readonly bus: FaultyBus;
  readonly store: SimulatedStore;
  readonly storeFaults: StoreFaults;
  readonly operations: Operations;
  readonly deadLetters: DeadLetters;
  /** Records the requests of all members to the store. */
  readonly histories: Histories;
  readonly ownLeases: OwnLeases;
  readonly failurePaces: FailurePaces;
  /** Layers that the fleet does without. */
  readonly disabled: readonly Layer[];
  /** Null: no digests. */
  readonly digestPeriodMs: number | null;
  readonly onCall: () => void;
  /** Whether a process ends before or after its next side effect. */
  readonly atEffect?: (member: Member) => 'before' | 'after' | undefined;
  /** A process has ended there. */
  readonly onEnd?: (member: Member) => void;
  /** A writer has got plans within its process, before the log may have stored them. */
  readonly onLocalDelivery: (member: string, deliveries: readonly Delivery[]) => void;
  readonly logger: (member: string) => Logger;
  /** Observes the requests of a writer to a cluster as they leave the process. */
  readonly auditRequests: (member: string, cluster: SimulatedCluster) => Middleware;
  /** For the writers of all members. */
  readonly metrics: Metrics;
  /** The server as writers see it. */
  readonly writtenServer: (cluster: SimulatedCluster) => SimulatedCluster['server'];
}

export interface Member {
  readonly role: Role;
  readonly name: string;
  /** The watched cluster. */
  readonly cluster: number;
  readonly process: SimulatedProcess;
  /** Its requests to API servers that write. */
  readonly outgoing: OutgoingRequests;
  readonly stop: AbortController;
  running: Promise<void>;
}

/** Several processes, with the production code of each role. */
export class Fleet {
  readonly #options: FleetOptions;
  readonly #members = new Set<Member>();
  readonly #firstSnapshots = new FirstSnapshots();
  #started = 0;

  constructor(options: FleetOptions) {
    this.#options = options;
  }

  get members(): readonly Member[] {
    return [...this.#members];
  }

  /** Members that do the work of a role. */
  membersOf(role: Role): readonly Member[] {
    return this.members.filter((member) => member.role === role || member.role === 'worker');
  }

  /** Starts a process with this role, or the worker that this fleet has in its place. */
  start(wanted: Role, cluster = 0): Member {
    const { clock, seed, random, bus, store, storeFaults, onCall, atEffect, onEnd, logger: loggerOf } = this.#options;
    const { processes, operations, histories, ownLeases, disabled } = this.#options;
    const isWorker = processes === 'workers' || (processes === 'mixed' && this.#started % 3 === 1);
    const role = isWorker ? 'worker' : wanted;
    const name = `${role}-${this.#started++}`;
    const process: SimulatedProcess = new SimulatedProcess({
      ...{ clock, random, onCall, originMs: randomInteger(seededRandom(seed + this.#started), 0, longestTickMs) },
      ...(atEffect && { atEffect: () => atEffect(member) }),
      ...(onEnd && { onEnd: () => onEnd(member) }),
    });
    const stop = new AbortController();
    const logger = loggerOf(name);
    const { failurePaces } = this.#options;
    const connected = failurePaces.bus(name, process.bus(operations.bus(name, bus.connect(name))));
    const stored = store.connect(name);
    const leases = ownLeases.leases(histories.leases(process.leases(storeFaults.leases(stored.leases))));
    const networked = new NetworkedBus(connected, { clock: process.clock, logger });
    const options = {
      member: name,
      leaseTimes,
      clock: process.clock,
      random: seededRandom(seed + this.#started),
      logger,
      yieldQueue: new YieldQueue(setImmediate),
      bus: role === 'worker' ? this.#localBus(name, networked, process.clock) : networked,
      store: failurePaces.store(
        name,
        histories.store(process.store(operations.store(name, storeFaults.store(stored.store)))),
      ),
      leases: disabled.includes('expiry') ? withoutExpiry(leases, () => process.isCutOff) : leases,
      deadLetters: this.#options.deadLetters,
      reachability: new Reachability({ bus: networked, member: name, clock: process.clock }),
    };
    const outgoing = new OutgoingRequests(process.clock, random);
    const member: Member = { role, name, cluster, process, outgoing, stop, running: Promise.resolve() };
    this.#members.add(member);
    member.running = this.#run(member, options);
    return member;
  }

  #localBus(member: string, bus: Bus, clock: Clock): Bus {
    const ports = { clock, random: seededRandom(this.#options.seed + this.#started) };
    return new ObservedBus(new LocalDeliveryBus(new ByReferenceBus(bus), ports), async (deliveries) => {
      const local = deliveries.filter(({ stored, isEarly }) => stored !== undefined || isEarly);
      if (local.length > 0) this.#options.onLocalDelivery(member, local);
    });
  }

  /** Ends a member, without notice or in order. What does not stop in order is killed after its grace period. */
  end(member: Member, how: 'kill' | 'stop'): void {
    this.#members.delete(member);
    if (how === 'kill') return member.process.kill();
    member.stop.abort();
    const cancel = this.#options.clock.schedule(gracePeriodMs, () => member.process.kill());
    void member.running.then(cancel, cancel);
  }

  /** Thaws all frozen members; each role has at least one. */
  thawAll(): void {
    for (const { process } of this.#members) process.thaw();
  }

  /** Stops all members in order. One that waits for a server that it does not reach ends when its grace period does. */
  async stop(): Promise<void> {
    for (const { process, stop } of this.#members) process.isCutOff ? process.kill() : stop.abort();
    await Promise.all([...this.#members].map(({ process, running }) => (process.isDead ? undefined : running)));
  }

  async #run({ role, cluster, process, outgoing, stop: { signal } }: Member, options: RoleOptions): Promise<void> {
    const { clusters, settings } = this.#options;
    switch (role) {
      case 'watcher':
        return this.#watch([cluster], process, options, signal);
      case 'reconciler':
        return runReconcilerRole({ ...options, settings }, signal);
      case 'writer':
        return this.#write(process, outgoing, options, signal);
      case 'worker':
        await Promise.all([
          this.#watch([...clusters.keys()], process, options, signal),
          runReconcilerRole({ ...options, settings }, signal),
          this.#write(process, outgoing, options, signal),
        ]);
    }
  }

  async #watch(
    indexes: readonly number[],
    process: SimulatedProcess,
    options: RoleOptions,
    signal: AbortSignal,
  ): Promise<void> {
    const share = watcherShare(options);
    const serving = new AbortController();
    const served = indexes.map((index) => this.#serve(index, process, { ...options, share }, serving.signal));
    await share.run(signal).finally(() => serving.abort());
    await Promise.all(served);
  }

  #serve(
    index: number,
    process: SimulatedProcess,
    options: RoleOptions & { readonly share: ServedShare },
    signal: AbortSignal,
  ): Promise<void> {
    const { clusters, clock, digestPeriodMs, seed, operations, disabled } = this.#options;
    const cluster = clusters[index];
    if (cluster === undefined) throw new RangeError(`no cluster ${index}`);
    const { name, identity, server, faults, malformed } = cluster;
    // With initial events, a standby reads the cluster while another process still watches it.
    const watchList = seed % 2 === 0;
    const client = this.#overHttp(malformed.reader(new FakeClient(server, { clock, faults, watchList })));
    // The simulated API servers answer or fail. Silent ones are tested on real connections.
    const { ping: _, ...link } = chainReader(client, operations.requests(options.member));
    const reader = process.reader(link, name);
    // Only the comparison of digests finds a slice that was created and deleted while no watcher ran, if a stored digest fits.
    const digests =
      digestPeriodMs === null ? { digestPeriodMs: Number.MAX_SAFE_INTEGER } : { digestPeriodMs, digestQuietPeriodMs };
    options.reachability?.addCluster(identity, (probing) => assertUsable({ identity, reader }, probing));
    const bus = disabled.includes('snapshots') ? this.#firstSnapshots.without(options.bus) : options.bus;
    const store = disabled.includes('epochs') ? withoutEpochs(options.store) : options.store;
    return runWatcherRole({ ...options, ...digests, bus, store, cluster: { name, identity, reader } }, signal);
  }

  /** In some seeds the production client for HTTP reads and writes the cluster. */
  #overHttp(reader: ClusterReader, writer?: ClusterWriter): ClusterReader & ClusterWriter {
    const { clock, seed, wire } = this.#options;
    if (wire === 'objects') return { ...reader, ...writer } as ClusterReader & ClusterWriter;
    const random = seededRandom(seed + this.#started);
    const http = wireCluster({ reader, ...(writer && { writer }), clock, random, protobuf: wire === 'protobuf' });
    return Object.assign(http, { watchList: reader.watchList });
  }

  #write(
    process: SimulatedProcess,
    outgoing: OutgoingRequests,
    options: RoleOptions,
    signal: AbortSignal,
  ): Promise<void> {
    const { clusters, clock, auditRequests, writtenServer, operations, metrics } = this.#options;
    const connected = new Map(
      clusters.map((cluster) => {
        const { name, identity, server, faults, malformed } = cluster;
        // Requests that a frozen process has already sent are executed.
        const client = malformed.writer(new FakeClient(writtenServer(cluster), { clock, faults }));
        const served = malformed.reader(new FakeClient(server, { clock, faults }));
        const writer = process.writer(
          chainWriter(
            this.#overHttp(served, client),
            auditRequests(options.member, cluster),
            operations.requests(options.member),
          ),
          name,
        );
        const reader = process.reader(this.#overHttp(served), name);
        options.reachability?.addCluster(identity, (probing) => assertUsable({ identity, reader }, probing));
        const given = { name, identity, reader, writer: chainWriter(writer, outgoing.send), record: () => {} };
        return [identity, writable(given, { clock: options.clock, logger: options.logger, metrics })];
      }),
    );
    const requests = new AbortController().signal;
    return runWriterRole({ ...options, cluster: (identity) => connected.get(identity), requests }, signal);
  }
}
