import { ChunkedBus } from '@sluice/bus';
import { FakeClient } from '@sluice/fake-apiserver';
import { chainWriter, type Middleware } from '@sluice/kubernetes';
import { type Logger, type Random, seededRandom, type VirtualClock, YieldQueue } from '@sluice/runtime';
import type { Settings } from '@sluice/service-state';
import { runReconcilerRole, runWatcherRole, runWriterRole, writable } from '@sluice/sluice';
import type { DeadLetters } from '@sluice/store';
import type { FaultyBus } from './doubles/faulty-bus.ts';
import type { LossyStore } from './doubles/lossy-store.ts';
import { SimulatedProcess } from './doubles/simulated-process.ts';
import type { StoreFaults } from './doubles/store-faults.ts';
import type { SimulatedCluster } from './simulated-cluster.ts';

/** Shorter than in production, so that a run sees several take-overs. */
export const leaseTimes = { ttlMs: 1_500, heartbeatMs: 450 };
/** How long a member waits at most until another one replaces it, in milliseconds. */
export const replacedWithinMs = 2_000;

export type Role = 'watcher' | 'reconciler' | 'writer';

export interface FleetOptions {
  readonly clusters: readonly SimulatedCluster[];
  readonly clock: VirtualClock;
  readonly seed: number;
  readonly random: Random;
  readonly settings: Settings;
  readonly bus: FaultyBus;
  readonly store: LossyStore;
  readonly storeFaults: StoreFaults;
  readonly deadLetters: DeadLetters;
  /** Null: no digests. */
  readonly digestPeriodMs: number | null;
  readonly onCall: () => void;
  readonly logger: (member: string) => Logger;
  /** Observes the requests of a writer to a cluster as they leave the process. */
  readonly auditRequests: (member: string, cluster: SimulatedCluster) => Middleware;
  /** The server as writers see it. */
  readonly writtenServer: (cluster: SimulatedCluster) => SimulatedCluster['server'];
}

export interface Member {
  readonly role: Role;
  readonly name: string;
  /** The watched cluster. */
  readonly cluster: number;
  readonly process: SimulatedProcess;
  readonly stop: AbortController;
  readonly running: Promise<void>;
}

/** Several processes per role, with the production code of each role. */
export class Fleet {
  readonly #options: FleetOptions;
  readonly #members = new Set<Member>();
  #started = 0;

  constructor(options: FleetOptions) {
    this.#options = options;
  }

  get members(): readonly Member[] {
    return [...this.#members];
  }

  start(role: Role, cluster = 0): Member {
    const { clock, seed, random, bus, store, storeFaults, onCall, logger: loggerOf } = this.#options;
    const name = `${role}-${this.#started++}`;
    const process = new SimulatedProcess({ clock, random, onCall });
    const stop = new AbortController();
    const logger = loggerOf(name);
    const connected = process.bus(bus.connect(name));
    const options = {
      member: name,
      leaseTimes,
      clock: process.clock,
      random: seededRandom(seed + this.#started),
      logger,
      yieldQueue: new YieldQueue(setImmediate),
      bus: new ChunkedBus(connected, { clock: process.clock, logger }),
      store: process.store(storeFaults.store(store.connect(name))),
      leases: process.leases(storeFaults.leases(store.leases)),
      deadLetters: this.#options.deadLetters,
    };
    const running = this.#run(role, cluster, process, options, stop.signal);
    const member = { role, name, cluster, process, stop, running };
    this.#members.add(member);
    return member;
  }

  /** Ends a member, without notice or in order. */
  end(member: Member, how: 'kill' | 'stop'): void {
    this.#members.delete(member);
    if (how === 'kill') member.process.kill();
    else member.stop.abort();
  }

  /** Thaws all frozen members; each role has at least one. */
  thawAll(): void {
    for (const { process } of this.#members) process.thaw();
  }

  async stop(): Promise<void> {
    for (const { stop } of this.#members) stop.abort();
    await Promise.all([...this.#members].map(({ running }) => running));
  }

  #run(
    role: Role,
    index: number,
    process: SimulatedProcess,
    options: Omit<Parameters<typeof runReconcilerRole>[0], 'settings'>,
    signal: AbortSignal,
  ): Promise<void> {
    const { clusters, clock, settings, digestPeriodMs, auditRequests, writtenServer } = this.#options;
    switch (role) {
      case 'watcher': {
        const cluster = clusters[index];
        if (cluster === undefined) throw new RangeError(`no cluster ${index}`);
        const { name, identity, server, faults } = cluster;
        const reader = process.reader(new FakeClient(server, { clock, faults }));
        const digests = { digestPeriodMs: digestPeriodMs ?? Number.MAX_SAFE_INTEGER };
        return runWatcherRole({ ...options, ...digests, cluster: { name, identity, reader } }, signal);
      }
      case 'reconciler':
        return runReconcilerRole({ ...options, settings }, signal);
      case 'writer': {
        const connected = new Map(
          clusters.map((cluster) => {
            const { name, identity, server, faults } = cluster;
            // Requests that a frozen process has already sent are executed.
            const client = new FakeClient(writtenServer(cluster), { clock, faults });
            const writer = process.writer(chainWriter(client, auditRequests(options.member, cluster)));
            const reader = new FakeClient(server, { clock, faults });
            const given = { name, identity, reader, writer, record: () => {} };
            return [identity, writable(given, { clock: options.clock, logger: options.logger })];
          }),
        );
        const requests = new AbortController().signal;
        return runWriterRole({ ...options, cluster: (identity) => connected.get(identity), requests }, signal);
      }
    }
  }
}
