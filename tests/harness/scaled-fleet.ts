import type { Bus } from '@sluice/bus';
import { type FakeApiServer, FakeClient, type FaultPlan } from '@sluice/fake-apiserver';
import { type Logger, type Random, randomInteger, seededRandom, type VirtualClock, YieldQueue } from '@sluice/runtime';
import type { Settings } from '@sluice/service-state';
import { runReconcilerRole, runWatcherRole, runWriterRole } from '@sluice/sluice';
import { MemoryDeadLetters } from '@sluice/store';
import { unlimited } from '@sluice/writer';
import type { Audit } from './audit.ts';
import type { LossyStore } from './lossy-store.ts';
import { SimulatedProcess } from './simulated-process.ts';

export const leaseTimes = { ttlMs: 3_000, heartbeatMs: 900 };

export type Role = 'watcher' | 'reconciler' | 'writer';

export interface ScaledFleetOptions {
  readonly server: FakeApiServer;
  readonly clock: VirtualClock;
  readonly seed: number;
  readonly random: Random;
  readonly faults: FaultPlan;
  readonly settings: Settings;
  readonly bus: Bus;
  readonly store: LossyStore;
  readonly audit: Audit;
  readonly onCall: () => void;
  readonly logger: (member: string) => Logger;
}

interface Member {
  readonly role: Role;
  readonly name: string;
  readonly process: SimulatedProcess;
  readonly stop: AbortController;
  readonly running: Promise<void>;
}

/** Several processes per role that start, stop, freeze and crash. */
export class ScaledFleet {
  readonly #options: ScaledFleetOptions;
  readonly #members = new Set<Member>();
  #started = 0;

  constructor(options: ScaledFleetOptions) {
    this.#options = options;
  }

  start(role: Role): void {
    const { server, clock, seed, random, faults, settings, bus, store, audit, onCall, logger } = this.#options;
    const name = `${role}-${this.#started++}`;
    const process = new SimulatedProcess({ clock, random, onCall });
    const stop = new AbortController();
    const options = {
      member: name,
      leaseTimes,
      clock: process.clock,
      random: seededRandom(seed + this.#started),
      logger: logger(name),
      turns: new YieldQueue(setImmediate),
      bus: process.bus(bus),
      store: process.store(store.connect()),
      leases: process.leases(store.leases),
      deadLetters: new MemoryDeadLetters(),
    };
    // Requests that a frozen process has already sent are executed.
    const cluster = new FakeClient(role === 'writer' ? audit.auditEffects(server) : server, { clock, faults });
    const run = (): Promise<void> => {
      switch (role) {
        case 'watcher': {
          const watched = { name: 'sim', identity: server.identity, reader: process.reader(cluster) };
          return runWatcherRole({ ...options, cluster: watched }, stop.signal);
        }
        case 'reconciler':
          return runReconcilerRole({ ...options, settings }, stop.signal);
        case 'writer': {
          const writer = process.writer(audit.auditRequests(name, cluster));
          const writable = { writer, limit: unlimited, record: () => {} };
          const requests = new AbortController().signal;
          return runWriterRole({ ...options, cluster: () => writable, requests }, stop.signal);
        }
      }
    };
    this.#members.add({ role, name, process, stop, running: run() });
  }

  /** Kills, freezes or stops a random member, or starts another. */
  disturb(): void {
    const { random } = this.#options;
    const members = [...this.#members];
    const member = members[randomInteger(random, 0, members.length - 1)];
    if (member === undefined) return;
    const chance = random.next();
    if (chance < 0.3) this.#freeze(member);
    else if (chance < 0.6) this.#end(member, () => member.process.kill());
    else if (chance < 0.8) this.#end(member, () => member.stop.abort());
    else this.start(member.role);
  }

  /** Thaws all frozen members; each role has at least one. */
  thawAll(): void {
    for (const { process } of this.#members) process.thaw();
  }

  async stop(): Promise<void> {
    this.thawAll();
    for (const { stop } of this.#members) stop.abort();
    await Promise.all([...this.#members].map(({ running }) => running));
  }

  #freeze({ process }: Member): void {
    const { clock, random } = this.#options;
    process.freeze();
    clock.schedule(randomInteger(random, 500, 3 * leaseTimes.ttlMs), () => process.thaw());
  }

  /** A replacement starts after a random delay. */
  #end(member: Member, end: () => void): void {
    const { clock, random } = this.#options;
    this.#members.delete(member);
    end();
    clock.schedule(randomInteger(random, 0, 6_000), () => this.start(member.role));
  }
}
