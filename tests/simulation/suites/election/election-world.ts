import { type Random, randomInteger } from '@sluice/platform';
import { LeaseApi } from '../lease-api.ts';
import { healProcesses, ProcessFaults, skewedProcess } from '../process-faults.ts';
import type { SuitePorts, SuiteWorld } from '../suite.ts';
import type { SuiteEventKind } from '../suite-kinds.ts';
import { Candidate, election } from './candidate.ts';
import { LeaderModel } from './leader-model.ts';

const { leaseDurationMs, renewDeadlineMs, resourceName } = election;
const mostCandidates = 4;
/** A process that has ended is replaced within this time, in milliseconds. */
const replacedWithinMs = 2_000;

/** Processes that elect a leader with a Lease (ADR 0071). */
export class ElectionWorld implements SuiteWorld<'election'> {
  readonly #ports: SuitePorts;
  readonly #api: LeaseApi;
  readonly #model: LeaderModel;
  readonly #candidates = new Set<Candidate>();
  readonly #faults: ProcessFaults<Candidate>;
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
    this.#faults = new ProcessFaults({
      clock: ports.clock,
      choose: (random) => this.#choose(random),
      replace: (killed) => this.#replace(killed),
    });
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
    healProcesses(this.#candidates);
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
    const process = skewedProcess(clock, random);
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

  get #events(): Readonly<Record<SuiteEventKind<'election'>, (random: Random) => string | undefined>> {
    return {
      'process starts': () => (this.#ports.clock.now() < this.#startAt ? undefined : this.#start()?.name),
      ...this.#faults.events,
      'Lease is deleted': () => this.#withoutHolder(() => this.#api.delete(resourceName)),
      'Lease is edited': (random) => this.#edit(random),
      'Leases are rolled back': (random) => {
        const writes = randomInteger(random, 1, 20);
        return this.#withoutHolder(() => this.#api.rollBack(writes)) && `by ${writes} writes`;
      },
    };
  }

  /** The leader as often as all others together. */
  #choose(random: Random): Candidate | undefined {
    const [leader] = this.#leaders;
    const all = [...this.#candidates];
    return leader !== undefined && random.next() < 0.5 ? leader : all[Math.floor(random.next() * all.length)];
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
