import { BusSetupError, MemoryBus } from '@sluice/bus';
import { FleetGeneration, parseGenerations, readGenerations, repartition } from '@sluice/fleet/roles';
import { errorMessage, type Random, randomInteger, sleep } from '@sluice/platform';
import type { StoredDocument } from '@sluice/store';
import type { Lua } from '@sluice/store/redis/testing';
import { SimulatedProcess } from '../../doubles/simulated-process.ts';
import { healProcesses, longestFaultMs, ProcessFaults, skewedProcess } from '../process-faults.ts';
import type { SuitePorts, SuiteWorld } from '../suite.ts';
import type { SuiteEventKind } from '../suite-kinds.ts';
import { PartitionModel } from './partition-model.ts';
import { PartitionProcess } from './partition-process.ts';
import { PartitionStore } from './partition-store.ts';

const mostProcesses = 4;
const mostPartitions = 6;
const replacedWithinMs = 2_000;
/** Longer than a command has steps that change something. */
const mostSteps = 12;

/** A fleet whose event loops block and whose number of partitions changes (ADR 0075 and 0081). */
export class PartitionWorld implements SuiteWorld<'partitions'> {
  /** Leases of a former generation are revoked after a minute, and a command retries until then. */
  readonly boundMs = 60_000 + 30_000;
  readonly #ports: SuitePorts;
  readonly #store: PartitionStore;
  readonly #model: PartitionModel;
  readonly #processes = new Set<PartitionProcess>();
  readonly #faults: ProcessFaults<PartitionProcess>;
  /** For how many partitions each log was created. */
  readonly #logs = new Map<string, number>();
  #commands = 0;
  #started = 0;
  #isStopping = false;
  #current: readonly { readonly partitions: number }[] = [];

  constructor(ports: SuitePorts, lua: Lua) {
    this.#ports = ports;
    const { clock, random, violations } = ports;
    this.#store = new PartitionStore(lua, clock, randomInteger(random, 1, mostPartitions));
    for (let n = 0; n < this.#store.partitions; n++) this.#logs.set(`0/${n}`, this.#store.partitions);
    this.#model = new PartitionModel(violations, () => clock.now(), this.#store.own);
    this.#faults = new ProcessFaults({
      clock,
      choose: (by) => [...this.#processes][Math.floor(by.next() * this.#processes.size)],
      replace: (killed) => this.#replace(killed),
    });
    for (let n = randomInteger(random, 2, 3); n > 0; n--) this.#start();
  }

  act(kind: SuiteEventKind<'partitions'>, random: Random): string {
    return this.#events[kind](random) ?? 'without effect';
  }

  check(): void {
    for (const one of this.#processes) one.observe();
    void this.#store.document.read().then((text) => {
      if (text !== null) this.#current = parseGenerations(text);
    });
  }

  heal(): void {
    healProcesses(this.#processes);
    for (const one of this.#processes) {
      one.unblock();
      one.stopMs = 200;
    }
  }

  unfinished(): string | undefined {
    const last = this.#current.length - 1;
    const { partitions = 0 } = this.#current[last] ?? {};
    const late = [...this.#processes].find(({ membership }) => membership?.generation !== last);
    if (late !== undefined) return `${late.name} works in generation ${late.membership?.generation}, not ${last}`;
    const owned = [...this.#processes].flatMap(({ working }) => working);
    const isOwned = owned.length === partitions && new Set(owned).size === partitions;
    return isOwned ? undefined : `of ${partitions} partitions, ${owned.join()} are owned`;
  }

  async stop(): Promise<void> {
    this.#isStopping = true;
    this.heal();
    for (const one of this.#processes) one.stop();
    await Promise.all([...this.#processes].map(({ ended }) => ended));
  }

  #start(): string | undefined {
    const { clock, random, logger } = this.#ports;
    if (this.#isStopping || this.#processes.size >= mostProcesses) return undefined;
    const name = `process-${this.#started++}`;
    const one = new PartitionProcess({
      ...{ name, process: skewedProcess(clock, random), store: this.#store, clock, random, logger: logger(name) },
      openLogs: (generation, partitions) => this.#checkLogs(name, generation, partitions),
      onSent: (membership, partition) => this.#model.sent(name, membership, partition, this.#processes),
    });
    this.#processes.add(one);
    void one.ended.then(() => this.#replace(one));
    return name;
  }

  #replace(one: PartitionProcess): void {
    if (!this.#processes.delete(one)) return;
    const { clock, random } = this.#ports;
    clock.schedule(randomInteger(random, 0, replacedWithinMs), () => void this.#start());
  }

  get #events(): Readonly<Record<SuiteEventKind<'partitions'>, (random: Random) => string | undefined>> {
    const { clock } = this.#ports;
    return {
      'process starts': () => this.#start(),
      ...this.#faults.events,
      'event loop is blocked': (random) =>
        this.#faults.withOne(random, (one) => {
          if (!one.block()) return undefined;
          const forMs = randomInteger(random, 100, longestFaultMs);
          clock.schedule(forMs, () => one.unblock());
          return `of ${one.name} for ${forMs} ms`;
        }),
      'lease thread fails': (random) =>
        this.#faults.withOne(random, (one) => {
          one.failThread();
          return `of ${one.name}`;
        }),
      'work does not stop': (random) =>
        this.#faults.withOne(random, (one) => {
          one.stopMs = randomInteger(random, 1_000, 90_000);
          return `of ${one.name} for up to ${one.stopMs} ms`;
        }),
      'partitions are set': (random) => this.#set(random, Number.POSITIVE_INFINITY),
      'partitions are set, half way': (random) => this.#set(random, randomInteger(random, 0, mostSteps)),
      'partitions are set twice': (random) =>
        `${this.#set(random, Number.POSITIVE_INFINITY)} and ${this.#set(random, Number.POSITIVE_INFINITY)}`,
    };
  }

  /** Runs `sluice partitions set`, in a process that is killed after so many steps. */
  #set(random: Random, steps: number): string {
    const { clock, random: shared, note } = this.#ports;
    const partitions = randomInteger(random, 1, mostPartitions);
    const name = `command-${this.#commands++}`;
    let left = steps;
    const isBefore = random.next() < 0.5;
    const process: SimulatedProcess = new SimulatedProcess({ clock, originMs: 0, random: shared, onCall: () => {} });
    const step = async <T>(act: () => Promise<T> | T): Promise<T> => {
      if (left <= 0 && isBefore) process.kill();
      await sleep(process.clock, randomInteger(shared, 0, 100));
      const result = await act();
      if (left-- <= 0) process.kill();
      await sleep(process.clock, randomInteger(shared, 0, 100));
      return result;
    };
    const documentOf = (document: StoredDocument): StoredDocument => ({
      read: () => step(() => document.read()),
      replace: (...args) => step(() => document.replace(...args)),
    });
    const run = async () => {
      const document = documentOf(this.#store.document);
      const all = await readGenerations(document, this.#store.partitions);
      const leases = this.#store.connect(process.clock);
      const logger = this.#ports.logger(name);
      const generation = new FleetGeneration(all, { document, leases, clock: process.clock, logger });
      await repartition(
        {
          ...{ generation, document, intended: documentOf(this.#store.intended), clock: process.clock },
          openLogs: async (number, count) => {
            for (let n = 0; n < count; n++) await step(() => this.#createLog(`${number}/${n}`, count));
            return new MemoryBus({ partitions: count });
          },
        },
        partitions,
      );
      note(name, () => `the fleet changes to ${partitions} partitions`);
    };
    run().catch((error: unknown) => note(name, () => errorMessage(error)));
    return `${name} sets ${partitions}${Number.isFinite(steps) ? `, killed after ${steps} steps` : ''}`;
  }

  #createLog(log: string, partitions: number): void {
    const existing = this.#logs.get(log) ?? partitions;
    if (existing !== partitions)
      throw new BusSetupError('BUS_OTHER_PARTITIONS', `${log} has ${existing} partitions, want ${partitions}`);
    this.#logs.set(log, partitions);
  }

  /** A process opens the logs of a generation: all of them exist, and were created for this generation. */
  #checkLogs(process: string, generation: number, partitions: number): void {
    for (let n = 0; n < partitions; n++) {
      const created = this.#logs.get(`${generation}/${n}`);
      if (created === partitions) continue;
      const what = created === undefined ? 'does not exist' : `was created for ${created} partitions`;
      this.#ports.violations.report(
        'logs of one generation',
        `${process} works with ${partitions} partitions, and log ${generation}/${n} ${what}`,
      );
    }
  }
}
