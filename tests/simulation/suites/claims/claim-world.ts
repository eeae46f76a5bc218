import { type Random, randomInteger } from '@sluice/runtime';
import { SimulatedProcess } from '../../doubles/simulated-process.ts';
import { type LinkFaults, noLinkFaults } from '../faulty-connection.ts';
import type { SuitePorts, SuiteWorld } from '../suite.ts';
import type { SuiteEventKind } from '../suite-kinds.ts';
import { Address } from './address.ts';
import { ClaimModel } from './claim-model.ts';
import { ClaimingFleet } from './claiming-fleet.ts';
import { ClaimingProcess } from './claiming-process.ts';

const claimLease = 'sluice';
const mostProcesses = 5;
const longestFaultMs = 25_000;
/** How far clocks of machines are apart at most, in milliseconds. */
const mostSkewMs = 3_600_000;
const replacedWithinMs = 2_000;

/** Fleets that configure one cluster and do not know of each other (ADR 0053 and 0054). */
export class ClaimWorld implements SuiteWorld<'claims'> {
  /** A claim expires, a process that was refused tries again after its longest backoff, and waits for the expiry once more. */
  readonly boundMs = 15_000 + 30_000 + 20_000 + 10_000;
  readonly #ports: SuitePorts;
  readonly #address: Address;
  readonly #model: ClaimModel;
  readonly #fleets: readonly ClaimingFleet[];
  readonly #processes = new Set<ClaimingProcess>();
  readonly #setBackAt = new Map<ClaimingProcess, number>();
  #started = 0;
  #isStopping = false;

  constructor(ports: SuitePorts) {
    this.#ports = ports;
    const { clock, random, violations } = ports;
    this.#address = new Address(() => clock.now());
    this.#model = new ClaimModel(violations, () => clock.now());
    this.#fleets = ['blue', 'green'].map((name) => new ClaimingFleet(name));
    for (const fleet of this.#fleets) for (let n = randomInteger(random, 1, 2); n > 0; n--) this.#start(fleet);
  }

  act(kind: SuiteEventKind<'claims'>, random: Random): string {
    return this.#events[kind](random) ?? 'without effect';
  }

  check(): void {}

  heal(): void {
    this.#address.comeUp(false);
    for (const { process, faults } of this.#processes) {
      process.thaw();
      Object.assign(faults, noLinkFaults);
    }
    for (const fleet of this.#fleets) {
      fleet.setDown(false);
      void fleet.accept(this.#address.server);
    }
    for (const one of this.#processes) one.isConfigured = true;
  }

  unfinished(): string | undefined {
    const { writing } = this.#model;
    return writing.length === 1 ? undefined : `${writing.length} fleets write: ${writing.join()}`;
  }

  async stop(): Promise<void> {
    this.#isStopping = true;
    this.heal();
    for (const one of this.#processes) one.stop();
    await Promise.all([...this.#processes].map(({ ended }) => ended));
  }

  #start(fleet: ClaimingFleet): string | undefined {
    const { clock, random, logger } = this.#ports;
    if (this.#isStopping || this.#processes.size >= mostProcesses) return undefined;
    const name = `${fleet.name}-${this.#started++}`;
    const process = new SimulatedProcess({
      clock,
      random,
      originMs: randomInteger(random, 0, mostSkewMs),
      onCall: () => {},
    });
    process.stepClock(randomInteger(random, -mostSkewMs, mostSkewMs));
    const one = new ClaimingProcess({
      ...{ name, fleet, process, releases: false, address: this.#address, model: this.#model },
      ...{ clock, random, logger: logger(name) },
    });
    this.#processes.add(one);
    void one.ended.then(() => this.#replace(one));
    return name;
  }

  #replace(one: ClaimingProcess): void {
    if (!this.#processes.delete(one)) return;
    const { clock, random } = this.#ports;
    clock.schedule(randomInteger(random, 0, replacedWithinMs), () => void this.#start(one.fleet));
  }

  readonly #events: Readonly<Record<SuiteEventKind<'claims'>, (random: Random) => string | undefined>> = {
    'process starts': (random) => this.#start(this.#anyFleet(random)),
    'process is killed': (random) =>
      this.#withOne(random, (one) => {
        one.process.kill();
        this.#replace(one);
        return one.name;
      }),
    'process stops': (random) =>
      this.#withOne(random, (one) => {
        one.stop();
        return one.name;
      }),
    'process freezes': (random) => this.#standStill(random, 'freeze'),
    'machine pauses': (random) => this.#standStill(random, 'pause'),
    'clock is set': (random) =>
      this.#withOne(random, (one) => {
        // While a machine is paused, nothing tells a clock that is set back from a shorter pause.
        if (one.process.isFrozen) return undefined;
        const ms = randomInteger(random, 0, 60_000) - 30_000;
        if (!one.process.stepClock(ms)) return undefined;
        if (ms < 0) this.#setBackAt.set(one, this.#ports.clock.now());
        return `${one.name} by ${ms} ms`;
      }),
    'link is cut': (random) => this.#forAWhile(random, { cut: random.next() < 0.5 ? 'requests' : 'answers' }),
    'link is slow': (random) => this.#forAWhile(random, { latencyMs: randomInteger(random, 100, 6_000) }),
    'requests wait': (random) => this.#forAWhile(random, { waitMs: randomInteger(random, 100, 20_000) }),
    'requests fail': (random) => this.#forAWhile(random, { fails: 0.2 + 0.7 * random.next() }),
    'requests are late': (random) => this.#forAWhile(random, { late: 0.2 + 0.7 * random.next() }),
    'wrong answers': (random) => this.#forAWhile(random, { wrong: 0.2 + 0.7 * random.next() }),
    'Lease is deleted': () => {
      this.#address.server.leases.delete(claimLease);
      this.#model.edited();
      return 'done';
    },
    'Lease is edited': (random) => this.#edit(random),
    'Leases are rolled back': (random) => {
      const writes = randomInteger(random, 1, 20);
      this.#address.server.leases.rollBack(writes);
      this.#model.edited();
      return `by ${writes} writes`;
    },
    'cluster is replaced': (random) => {
      const isAnother = random.next() < 0.7;
      const forMs = randomInteger(random, 2_000, 10_000);
      this.#address.goDown();
      this.#ports.clock.schedule(forMs, () => {
        const writing = [...this.#processes].filter((one) => one.isWriting()).map(({ name }) => name);
        this.#address.comeUp(isAnother, writing);
      });
      return `${isAnother ? 'by another one' : 'by itself'}, after ${forMs} ms`;
    },
    'operator accepts': (random) => {
      const fleet = this.#anyFleet(random);
      void fleet.accept(this.#address.server);
      return `${this.#address.server.identity} for ${fleet.name}`;
    },
    'store is down': (random) => {
      const fleet = this.#anyFleet(random);
      fleet.setDown(true);
      const forMs = randomInteger(random, 100, longestFaultMs);
      this.#ports.clock.schedule(forMs, () => fleet.setDown(false));
      return `of ${fleet.name} for ${forMs} ms`;
    },
    'pins are rolled back': (random) => {
      const fleet = this.#anyFleet(random);
      void fleet.rollBack(random.next());
      return `of ${fleet.name}`;
    },
    'cluster is removed': (random) =>
      this.#withOne(random, (one) => {
        one.isConfigured = false;
        // Its fleet unpins the name.
        one.fleet.pinned = undefined;
        const forMs = randomInteger(random, 1_000, longestFaultMs);
        this.#ports.clock.schedule(forMs, () => {
          one.isConfigured = true;
        });
        return `from ${one.name} for ${forMs} ms`;
      }),
  };

  #anyFleet(random: Random): ClaimingFleet {
    const fleet = this.#fleets[Math.floor(random.next() * this.#fleets.length)];
    if (fleet === undefined) throw new RangeError('no fleet');
    return fleet;
  }

  #withOne(random: Random, act: (one: ClaimingProcess) => string | undefined): string | undefined {
    const all = [...this.#processes];
    const chosen = all[Math.floor(random.next() * all.length)];
    return chosen && act(chosen);
  }

  #standStill(random: Random, how: 'freeze' | 'pause'): string | undefined {
    return this.#withOne(random, (one) => {
      const { clock } = this.#ports;
      if (how === 'pause' && clock.now() - (this.#setBackAt.get(one) ?? Number.NEGATIVE_INFINITY) < 15_000)
        return undefined;
      if (one.process[how]() === false) return undefined;
      const forMs = randomInteger(random, 100, longestFaultMs);
      clock.schedule(forMs, () => one.process.thaw());
      return `${one.name} for ${forMs} ms`;
    });
  }

  #forAWhile(random: Random, faults: Partial<LinkFaults>): string | undefined {
    return this.#withOne(random, (one) => {
      Object.assign(one.faults, faults);
      const forMs = randomInteger(random, 100, longestFaultMs);
      this.#ports.clock.schedule(forMs, () => Object.assign(one.faults, noLinkFaults));
      return `${one.name} for ${forMs} ms: ${JSON.stringify(faults)}`;
    });
  }

  #edit(random: Random): string | undefined {
    const { leases } = this.#address.server;
    const spec = leases.spec(claimLease);
    if (spec === undefined) return undefined;
    const seconds = [1, 5, 3_600][Math.floor(random.next() * 3)] ?? 1;
    const edits = [
      { holderIdentity: `stranger ${'x'.repeat(600)}` },
      { leaseDurationSeconds: seconds },
      { holderIdentity: '' },
      { renewTime: 'never' },
      { renewTime: new Date(this.#ports.clock.now() + mostSkewMs).toISOString() },
      {},
    ];
    const edit = edits[Math.floor(random.next() * edits.length)] ?? {};
    leases.edit(claimLease, { ...spec, ...edit });
    this.#model.edited();
    return JSON.stringify(edit).slice(0, 100);
  }
}
