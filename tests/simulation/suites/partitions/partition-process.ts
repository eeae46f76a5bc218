import { MemoryBus } from '@sluice/bus';
import { FleetGeneration, leasesOf, own, partitionScopes, readGenerations, storedName } from '@sluice/fleet/roles';
import { aborted, type Clock, type Logger, type Random, randomInteger, sleep } from '@sluice/platform';
import { type Leases, MemoryDeadLetters, MemoryStore, type StoredDocument } from '@sluice/store';
import { groupKeys, LeaseRenewer, LeaseThreadClient, memoryClient, Script } from '@sluice/store/redis/testing';
import { SimulatedProcess } from '../../doubles/simulated-process.ts';
import { type LinkFaults, noLinkFaults } from '../faulty-connection.ts';
import type { Membership, ModelledProcess } from './partition-model.ts';
import { fleet, leaseTimes, type PartitionStore } from './partition-store.ts';
import { StoreLink } from './store-link.ts';

export interface PartitionProcessOptions {
  readonly name: string;
  /** The machine, with the clock of both threads. */
  readonly process: SimulatedProcess;
  readonly store: PartitionStore;
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
  /** Opens the logs of a generation. */
  readonly openLogs: (generation: number, partitions: number) => void;
  readonly onSent: (membership: Membership, partition: string) => void;
}

/** Between two writes for a partition, in milliseconds. */
const betweenWritesMs = { least: 50, most: 800 };
const restartMs = 500;
/** A member was well for so long before its event loop was blocked that its last heartbeat is answered, in milliseconds. */
const wellMs = 4_000;

const renewScript = new Script(['alive-until', 'renew'], ['allow-oom']);

/** A process with a main thread and a lease thread, which writes for the partitions that it holds, in one generation after another. */
export class PartitionProcess implements ModelledProcess {
  readonly name: string;
  readonly process: SimulatedProcess;
  readonly faults: LinkFaults = { ...noLinkFaults };
  readonly ended: Promise<void>;
  membership: Membership | undefined;
  /** How long work takes to stop at most, in milliseconds. */
  stopMs = 200;
  readonly #options: PartitionProcessOptions;
  readonly #main: SimulatedProcess;
  readonly #link: StoreLink;
  readonly #stop = new AbortController();
  readonly #working = new Map<string, () => boolean>();
  #thread: SimulatedProcess;
  #failThread: (error: Error) => void = () => {};
  #blockedAt: number | undefined;
  /** When something was wrong besides a blocked event loop. */
  #unwellAt: number;

  constructor(options: PartitionProcessOptions) {
    this.#options = options;
    this.name = options.name;
    this.process = options.process;
    this.#main = this.#newThread();
    this.#thread = this.#newThread();
    this.#link = this.#linkOf(this.#main);
    this.#unwellAt = options.clock.now();
    this.ended = this.#run();
  }

  stop(): void {
    this.#stop.abort();
  }

  /** Blocks the event loop of the main thread. Returns whether it was not. */
  block(): boolean {
    if (this.#main.isFrozen || this.process.isFrozen) return false;
    this.#blockedAt = this.#options.clock.now();
    this.#main.freeze();
    return true;
  }

  unblock(): void {
    this.#blockedAt = undefined;
    this.#main.thaw();
  }

  failThread(): void {
    this.#unwellAt = this.#options.clock.now();
    this.#thread.kill();
    this.#failThread(new Error('injected: the thread fails'));
  }

  /** Notes whether something is wrong. */
  observe(): void {
    const isWell = Object.entries(noLinkFaults).every(([fault, none]) => Reflect.get(this.faults, fault) === none);
    if (!isWell || this.process.isFrozen || this.#stop.signal.aborted) this.#unwellAt = this.#options.clock.now();
  }

  get renewedByThreadSince(): number | undefined {
    const since = this.#blockedAt;
    return since !== undefined && this.#unwellAt < since - wellMs ? since : undefined;
  }

  /** Partitions for which it may write. */
  get working(): readonly string[] {
    return [...this.#working].flatMap(([partition, isCurrent]) => (isCurrent() ? [partition] : []));
  }

  async #run(): Promise<void> {
    const { signal } = this.#stop;
    const thread = this.#leaseThread();
    while (!signal.aborted) {
      try {
        await this.#work(thread, signal);
      } catch (error) {
        this.#options.logger.warn('process restarts', { error });
        await sleep(this.#main.clock, restartMs, signal);
      }
    }
    thread.close();
  }

  /** As `sluice worker` does: works in the current generation until there is another one. */
  async #work(thread: LeaseThreadClient, signal: AbortSignal): Promise<void> {
    const { store, random, logger, openLogs, name } = this.#options;
    const { clock } = this.#main;
    const document = this.#document(store.document);
    const all = await readGenerations(document, store.partitions);
    const leases = this.#leases(store.connect(clock), thread);
    const generation = new FleetGeneration(all, { document, leases, clock, logger });
    const { number, partitions } = generation;
    openLogs(number, partitions);
    const group = storedName('writer', number);
    const membership = { member: `${name}-${store.nextMember()}`, group, generation: number };
    this.membership = membership;
    const bus = new MemoryBus({ partitions });
    const superseded = new AbortController();
    const end = AbortSignal.any([signal, superseded.signal]);
    const owning = own(
      {
        ...{ bus, store: new MemoryStore(), leases: leasesOf(leases, number), generation, leaseTimes },
        ...{ deadLetters: new MemoryDeadLetters(), member: membership.member, clock, random, logger },
      },
      {
        ...{ role: 'writer', group: 'writer', scopes: partitionScopes(bus) },
        work: async ({ scope, isCurrent, signal: held, started }) => {
          this.#working.set(scope, isCurrent);
          started();
          const writes = async () => {
            while (this.#working.get(scope) === isCurrent) {
              await sleep(clock, randomInteger(random, betweenWritesMs.least, betweenWritesMs.most));
              await sleep(clock, randomInteger(random, 0, this.faults.waitMs));
              if (this.#working.get(scope) === isCurrent && isCurrent()) this.#options.onSent(membership, scope);
            }
          };
          const writing = writes();
          await aborted(held);
          await sleep(clock, randomInteger(random, 0, this.stopMs));
          if (this.#working.get(scope) === isCurrent) this.#working.delete(scope);
          await writing;
        },
      },
      end,
    );
    await generation.superseded(signal);
    superseded.abort();
    await owning;
    this.membership = undefined;
  }

  #newThread(): SimulatedProcess {
    const { process, random } = this.#options;
    return new SimulatedProcess({ clock: process.clock, originMs: 0, random, onCall: () => {} });
  }

  #linkOf({ clock: own }: SimulatedProcess): StoreLink {
    const { clock, random } = this.#options;
    return new StoreLink({ own, clock, random, faults: this.faults });
  }

  #document(document: StoredDocument): StoredDocument {
    return {
      read: () => this.#link.exchange(() => document.read()),
      replace: (...args) => this.#link.exchange(() => document.replace(...args)),
    };
  }

  #leases(leases: Leases, thread: LeaseThreadClient): Leases {
    const { clock } = this.#main;
    return this.#options.store.own.leases({
      heartbeat: (heartbeat) => this.#link.exchange(() => leases.heartbeat(heartbeat)),
      leave: (...args) => this.#link.exchange(() => leases.leave(...args)),
      state: (group) => this.#link.exchange(() => leases.state(group)),
      watch: (group, onChange) => leases.watch(group, () => clock.schedule(0, onChange)),
      keepAlive: (options) => thread.keepAlive(options),
    });
  }

  #leaseThread(): LeaseThreadClient {
    const { store, logger } = this.#options;
    const { clock } = this.#main;
    return new LeaseThreadClient({
      ...{ clock, logger, redis: { urls: ['redis://x'], fleet } },
      start: (_, { onMessage, onFailure }) => {
        this.#thread = this.#newThread();
        const thread = this.#thread;
        const link = this.#linkOf(thread);
        const client = memoryClient(store.server);
        const post = (message: Parameters<typeof onMessage>[0]) => clock.schedule(0, () => onMessage(message));
        const renewer = new LeaseRenewer({
          clock: thread.clock,
          log: (line) => post({ kind: 'log', line }),
          renew: async ({ group, member, ttlMs }, leases) => {
            const sentAt = this.#options.clock.now();
            const args = [member, ttlMs, ...leases.flat()];
            const run = () => renewScript.run(client, groupKeys(fleet, group), args);
            const isRenewed = Number(await link.exchange(run)) === 1;
            if (isRenewed) store.own.renewed(group, member, sentAt);
            return isRenewed;
          },
        });
        this.#failThread = (error) => clock.schedule(0, () => onFailure(error));
        thread.clock.schedule(0, () => post({ kind: 'ready' }));
        return {
          send: (request) => void thread.clock.schedule(0, () => request.kind !== 'secrets' && renewer.handle(request)),
          terminate: () => thread.kill(),
        };
      },
    });
  }
}
