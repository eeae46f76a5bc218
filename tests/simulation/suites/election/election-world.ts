import { type Random, randomInteger } from '@sluice/runtime';
import { SimulatedProcess } from '../../doubles/simulated-process.ts';
import { type LinkFaults, noLinkFaults } from '../faulty-connection.ts';
import { LeaseApi } from '../lease-api.ts';
import type { SuitePorts, SuiteWorld } from '../suite.ts';
import type { SuiteEventKind } from '../suite-kinds.ts';
import { Candidate, election } from './candidate.ts';
import { LeaderModel } from './leader-model.ts';

const { leaseDurationMs, renewDeadlineMs, resourceName } = election;
const mostCandidates = 4;
const longestFaultMs = 25_000;
/** How far clocks of machines are apart at most, in milliseconds. */
const mostSkewMs = 3_600_000;
/** A process that has ended is replaced within this time, in milliseconds. */
const replacedWithinMs = 2_000;

/** Processes that elect a leader with a Lease (ADR 0071). */
export class ElectionWorld implements SuiteWorld<'election'> {
  readonly #ports: SuitePorts;
  readonly #api: LeaseApi;
  readonly #model: LeaderModel;
  readonly #candidates = new Set<Candidate>();
  /** When the clock of a machine was last set back: a pause soon after does not show in the difference of its clocks. */
  readonly #setBackAt = new Map<Candidate, number>();
  #started = 0;
  /** Nobody starts before: who has not seen a Lease that was deleted cannot know of its holder. */
  #startAt = 0;
  /** How long nobody may start after the faults have ended, in milliseconds. */
  #heldBackMs = 0;
  #longestDurationMs = leaseDurationMs;
  #isStopping = false;

  constructor(ports: SuitePorts) {
    this.#ports = ports;
    this.#api = new LeaseApi(() => ports.clock.now());
    this.#model = new LeaderModel(ports.violations);
    for (let n = randomInteger(ports.random, 2, 3); n > 0; n--) this.#start();
  }

  get boundMs(): number {
    return this.#longestDurationMs + renewDeadlineMs + replacedWithinMs + 1_000 + this.#heldBackMs;
  }

  act(kind: SuiteEventKind<'election'>, random: Random): string {
    return this.#events[kind](random) ?? 'without effect';
  }

  check(): void {
    this.#model.claimed(this.#leaders.map(({ name }) => name));
  }

  heal(): void {
    this.#heldBackMs = Math.max(0, this.#startAt - this.#ports.clock.now());
    for (const candidate of this.#candidates) {
      candidate.process.thaw();
      Object.assign(candidate.faults, noLinkFaults);
    }
  }

  unfinished(): string | undefined {
    return this.#leaders.length === 1 ? undefined : `${this.#leaders.length} processes lead`;
  }

  async stop(): Promise<void> {
    this.#isStopping = true;
    this.heal();
    for (const candidate of this.#candidates) candidate.stop();
    await Promise.all([...this.#candidates].map(({ ended }) => ended));
  }

  get #leaders(): readonly Candidate[] {
    return [...this.#candidates].filter(({ isLeader }) => isLeader);
  }

  #start(): Candidate | undefined {
    const { clock, random, logger } = this.#ports;
    if (this.#isStopping || this.#candidates.size >= mostCandidates) return undefined;
    const name = `candidate-${this.#started++}`;
    const originMs = randomInteger(random, 0, mostSkewMs);
    const process = new SimulatedProcess({ clock, originMs, random, onCall: () => {} });
    process.stepClock(randomInteger(random, -mostSkewMs, mostSkewMs));
    const candidate = new Candidate({
      ...{ name, process, api: this.#api, clock, random, logger: logger(name) },
      onWrite: () => this.#model.wrote(name),
    });
    this.#candidates.add(candidate);
    void candidate.ended.then(() => this.#replace(candidate));
    return candidate;
  }

  #replace(candidate: Candidate): void {
    if (!this.#candidates.delete(candidate)) return;
    const { clock, random } = this.#ports;
    const start = () => {
      if (clock.now() >= this.#startAt) this.#start();
      else clock.schedule(this.#startAt - clock.now(), start);
    };
    clock.schedule(randomInteger(random, 0, replacedWithinMs), start);
  }

  readonly #events: Readonly<Record<SuiteEventKind<'election'>, (random: Random) => string | undefined>> = {
    'candidate starts': () => (this.#ports.clock.now() < this.#startAt ? undefined : this.#start()?.name),
    'candidate is killed': (random) =>
      this.#withOne(random, (candidate) => {
        candidate.process.kill();
        this.#replace(candidate);
        return candidate.name;
      }),
    'candidate stops': (random) =>
      this.#withOne(random, (candidate) => {
        candidate.stop();
        return candidate.name;
      }),
    'candidate freezes': (random) => this.#standStill(random, 'freeze'),
    'machine pauses': (random) => this.#standStill(random, 'pause'),
    'clock is set': (random) =>
      this.#withOne(random, (candidate) => {
        // While a machine is paused, nothing tells a clock that is set back from a shorter pause.
        if (candidate.process.isFrozen) return undefined;
        const ms = randomInteger(random, 0, 60_000) - 30_000;
        if (!candidate.process.stepClock(ms)) return undefined;
        if (ms < 0) this.#setBackAt.set(candidate, this.#ports.clock.now());
        return `${candidate.name} by ${ms} ms`;
      }),
    'link is cut': (random) => this.#forAWhile(random, { cut: random.next() < 0.5 ? 'requests' : 'answers' }),
    'link is slow': (random) => this.#forAWhile(random, { latencyMs: randomInteger(random, 100, 6_000) }),
    'requests wait': (random) => this.#forAWhile(random, { waitMs: randomInteger(random, 100, 20_000) }),
    'requests fail': (random) => this.#forAWhile(random, { fails: 0.2 + 0.7 * random.next() }),
    'requests are late': (random) => this.#forAWhile(random, { late: 0.2 + 0.7 * random.next() }),
    'wrong answers': (random) => this.#forAWhile(random, { wrong: 0.2 + 0.7 * random.next() }),
    'Lease is deleted': () => this.#withoutHolder(() => this.#api.delete(resourceName)),
    'Lease is edited': (random) => this.#edit(random),
    'Leases are rolled back': (random) => {
      const writes = randomInteger(random, 1, 20);
      return this.#withoutHolder(() => this.#api.rollBack(writes)) && `by ${writes} writes`;
    },
  };

  #withOne(random: Random, act: (candidate: Candidate) => string | undefined): string | undefined {
    // The leader as often as all others together.
    const [leader] = this.#leaders;
    const all = [...this.#candidates];
    const chosen = leader !== undefined && random.next() < 0.5 ? leader : all[Math.floor(random.next() * all.length)];
    return chosen && act(chosen);
  }

  #standStill(random: Random, how: 'freeze' | 'pause'): string | undefined {
    return this.#withOne(random, (candidate) => {
      const { clock } = this.#ports;
      const setBackAt = this.#setBackAt.get(candidate) ?? Number.NEGATIVE_INFINITY;
      if (how === 'pause' && clock.now() - setBackAt < leaseDurationMs) return undefined;
      if (candidate.process[how]() === false) return undefined;
      const forMs = randomInteger(random, 100, longestFaultMs);
      clock.schedule(forMs, () => candidate.process.thaw());
      return `${candidate.name} for ${forMs} ms`;
    });
  }

  #forAWhile(random: Random, faults: Partial<LinkFaults>): string | undefined {
    return this.#withOne(random, (candidate) => {
      Object.assign(candidate.faults, faults);
      const forMs = randomInteger(random, 100, longestFaultMs);
      this.#ports.clock.schedule(forMs, () => Object.assign(candidate.faults, noLinkFaults));
      return `${candidate.name} for ${forMs} ms: ${JSON.stringify(faults)}`;
    });
  }

  #edit(random: Random): string | undefined {
    const spec = this.#api.spec(resourceName);
    if (spec === undefined) return undefined;
    const seconds = [1, 5, 40][Math.floor(random.next() * 3)] ?? 1;
    const edits = [
      { holderIdentity: `stranger ${'x'.repeat(600)}` },
      { leaseDurationSeconds: seconds },
      { leaseDurationSeconds: seconds, holderIdentity: 'stranger' },
      { renewTime: 'never' },
      { acquireTime: null, leaseTransitions: -1 },
    ];
    const edit = edits[Math.floor(random.next() * edits.length)] ?? {};
    this.#longestDurationMs = Math.max(this.#longestDurationMs, seconds * 1000);
    if (random.next() < 0.3) return this.#withoutHolder(() => this.#api.edit(resourceName, {})) && 'to nothing';
    this.#api.edit(resourceName, { ...spec, ...edit });
    return JSON.stringify(edit).slice(0, 100);
  }

  /** Only those who have seen the holder can know that it may still write, as with client-go. */
  #withoutHolder(act: () => void): string | undefined {
    const spec = this.#api.spec(resourceName);
    if (spec === undefined || ![...this.#candidates].every((candidate) => candidate.knows(spec))) return undefined;
    act();
    this.#startAt = this.#ports.clock.now() + leaseDurationMs + renewDeadlineMs;
    return 'done';
  }
}
