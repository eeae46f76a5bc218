import { type Random, randomInteger } from '@sluice/platform';
import { healProcesses, longestFaultMs, mostSkewMs, ProcessFaults, skewedProcess } from '../process-faults.ts';
import type { SuitePorts, SuiteWorld } from '../suite.ts';
import type { SuiteEventKind } from '../suite-kinds.ts';
import { Address } from './address.ts';
import { ClaimModel } from './claim-model.ts';
import { ClaimingFleet } from './claiming-fleet.ts';
import { ClaimingProcess } from './claiming-process.ts';

const claimLease = 'sluice';
const mostProcesses = 5;
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
  readonly #faults: ProcessFaults<ClaimingProcess>;
  #started = 0;
  #isStopping = false;

  constructor(ports: SuitePorts) {
    this.#ports = ports;
    const { clock, random, violations } = ports;
    this.#address = new Address(() => clock.now());
    this.#model = new ClaimModel(violations, () => clock.now());
    this.#faults = new ProcessFaults({
      clock,
      choose: (by) => [...this.#processes][Math.floor(by.next() * this.#processes.size)],
      replace: (killed) => this.#replace(killed),
    });
    this.#fleets = ['blue', 'green'].map((name) => new ClaimingFleet(name));
    for (const fleet of this.#fleets) for (let n = randomInteger(random, 1, 2); n > 0; n--) this.#start(fleet);
  }

  act(kind: SuiteEventKind<'claims'>, random: Random): string {
    return this.#events[kind](random) ?? 'without effect';
  }

  check(): void {}

  heal(): void {
    this.#address.comeUp(false);
    healProcesses(this.#processes);
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
    const process = skewedProcess(clock, random);
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

  get #events(): Readonly<Record<SuiteEventKind<'claims'>, (random: Random) => string | undefined>> {
    return {
      'process starts': (random) => this.#start(this.#anyFleet(random)),
      ...this.#faults.events,
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
        this.#faults.withOne(random, (one) => {
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
  }

  #anyFleet(random: Random): ClaimingFleet {
    const fleet = this.#fleets[Math.floor(random.next() * this.#fleets.length)];
    if (fleet === undefined) throw new RangeError('no fleet');
    return fleet;
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
