import { FakeApiServer, type Fault, FaultPlan } from '@sluice/fake-apiserver';
import { noPartitionMetrics } from '@sluice/reconciler';
import { type Random, randomInteger, seededRandom, VirtualClock } from '@sluice/runtime';
import { advance } from '@sluice/runtime/testing';
import { defaultSettings, type Settings } from '@sluice/service-state';
import { differencesFromExpected, writesOfFreshStart } from './converged.ts';
import { type Fleet, startFleet } from './fleet.ts';
import { type ObservedWrite, observeWrites } from './observe-writes.ts';
import { RandomUser } from './random-user.ts';
import { referenceCheck } from './reference-check.ts';
import { type BusFaults, UnreliableBus } from './unreliable-bus.ts';

/** Where faults occur: in the API server and the connection to it, or on the bus. */
export type FaultyPart = 'cluster' | BusFaults;

const steps = 30;
const mostRequestsAtOnce = 1_000;
/** A loop of creates and deletes would exceed it by far. */
const mostChurn = 12 * steps;
const managers: ReadonlySet<string | undefined> = new Set([
  'endpointslice-controller.k8s.io',
  'endpointslicemirroring-controller.k8s.io',
]);

/** One seed: a cluster, its faults, and the invariants at the end. */
export class SeededRun {
  readonly #seed: number;
  readonly #trouble: FaultyPart;
  readonly #clock = new VirtualClock(Date.parse('2026-01-01T00:00:00Z'));
  readonly #server: FakeApiServer;
  readonly #faults: FaultPlan;
  readonly #user: RandomUser;
  readonly #random = seededRandom(0);
  readonly #settings: Settings;
  readonly #writes: ObservedWrite[] = [];
  #bus: UnreliableBus | undefined;
  #foreignWrites = 0;
  #restores = 0;
  /** Requests at one instant of the virtual clock. */
  #requests = { at: 0, count: 0, spun: false };

  constructor(seed: number, trouble: FaultyPart) {
    this.#seed = seed;
    this.#trouble = trouble;
    this.#random = seededRandom(seed);
    const clock = this.#clock;
    this.#server = new FakeApiServer({ clock, random: seededRandom(seed + 1), bookmarkIntervalMs: 60_000 });
    this.#server.create('namespaces', { metadata: { name: 'shop' } });
    this.#user = new RandomUser(this.#server, seededRandom(seed + 2), clock);
    this.#faults = new FaultPlan([], seededRandom(seed + 3));
    this.#settings = settingsOf(seededRandom(seed + 6));
  }

  /** Returns the violations; empty if there are none. */
  async play(): Promise<readonly string[]> {
    this.#user.createInitialObjects();
    let fleet = this.#start();
    if (this.#trouble === 'cluster') for (const fault of requestFaults(this.#random.next())) this.#faults.add(fault);
    for (let step = 0; step < steps; step++) {
      for (let n = randomInteger(this.#random, 1, 3); n > 0; n--) this.#user.step();
      if (this.#trouble === 'cluster') fleet = await this.#makeTrouble(fleet);
      await advance(this.#clock, this.#pause());
    }
    this.#faults.clear();
    if (this.#bus) this.#bus.faulty = false;
    await advance(this.#clock, 10_000);
    if (typeof this.#trouble === 'object' && this.#trouble.lose > 0) fleet.watcher.resync();
    await advance(this.#clock, 600_000);
    return [...this.#problems(), ...(await this.#writesOfFreshStart(fleet))];
  }

  #start(): Fleet {
    const trouble = this.#trouble;
    return startFleet({
      server: observeWrites(
        this.#server,
        (write) => this.#writes.push(write),
        () => this.#noteRequest(),
      ),
      clock: this.#clock,
      seed: this.#seed + 4,
      settings: this.#settings,
      metrics: {
        open: () => ({
          ...noPartitionMetrics,
          foreignWrites: (_key, _controller, count) => {
            this.#foreignWrites += count;
          },
          restoreProven: () => {
            this.#restores += 1;
          },
        }),
      },
      faults: this.#faults,
      // Every third seed sends almost all messages in chunks.
      ...(this.#seed % 3 === 0 && { limits: { recordBytes: 500, messageBytes: 1_000_000 } }),
      // Every other seed, as all-in-one does it.
      ...(trouble === 'cluster' &&
        this.#seed % 2 === 1 &&
        this.#seed % 3 !== 0 && { byReference: true, wrapBus: referenceCheck }),
      ...(trouble !== 'cluster' && {
        wrapBus: (bus) => {
          this.#bus = new UnreliableBus(bus, seededRandom(this.#seed + 5), trouble);
          return this.#bus;
        },
      }),
    });
  }

  /**
   * Requests take no real time, so a loop without a pause would never end. An error breaks it, because the writer backs
   * off.
   */
  #noteRequest(): void {
    const at = this.#clock.now();
    const count = at === this.#requests.at ? this.#requests.count + 1 : 1;
    this.#requests = { at, count, spun: this.#requests.spun || count > mostRequestsAtOnce };
    if (count > mostRequestsAtOnce) throw new Error('endless requests');
  }

  async #makeTrouble(fleet: Fleet): Promise<Fleet> {
    const chance = this.#random.next();
    if (chance < 0.1) this.#server.cutWatches(chance < 0.05 ? 'reset' : 'end');
    if (chance > 0.05 && chance < 0.15) this.#server.compact();
    if (chance < 0.97) return fleet;
    await fleet.stop();
    return this.#start();
  }

  /** Often too short for anything to happen between two steps, sometimes long enough for everything. */
  #pause(): number {
    const chance = this.#random.next();
    if (chance < 0.4) return 0;
    return chance < 0.8 ? randomInteger(this.#random, 1, 200) : randomInteger(this.#random, 1_000, 20_000);
  }

  #problems(): string[] {
    const strangers = this.#writes.filter(({ resource, before }) => {
      const manager = before?.metadata.labels?.['endpointslice.kubernetes.io/managed-by'];
      return resource === 'endpointslices' && before !== undefined && !managers.has(manager);
    });
    const churn = this.#writes.filter(({ verb }) => verb !== 'update').length;
    return [
      ...differencesFromExpected(this.#server),
      ...strangers.map(({ verb, name }) => `${verb} of slice ${name}, which Sluice does not manage`),
      ...(churn > mostChurn ? [`${churn} creates and deletes`] : []),
      ...(this.#requests.spun ? ['endless requests'] : []),
      ...(this.#foreignWrites > this.#user.contentEdits
        ? [`${this.#foreignWrites} foreign writes reported, ${this.#user.contentEdits} happened`]
        : []),
      ...(this.#restores > 0 ? ['a restore was proven, and none happened'] : []),
    ];
  }

  async #writesOfFreshStart(fleet: Fleet): Promise<string[]> {
    await fleet.stop();
    const options = { clock: this.#clock, seed: this.#seed + 4, settings: this.#settings };
    return writesOfFreshStart(this.#server, { ...options, onRequest: () => this.#noteRequest() });
  }
}

/** Often small slices, so that plans contain several mutations, and sometimes a batch period. */
function settingsOf(random: Random): Settings {
  const batchMs = random.next() < 0.2 ? 700 : 0;
  return {
    ...defaultSettings,
    maxEndpointsPerSlice: random.next() < 0.5 ? randomInteger(random, 1, 3) : defaultSettings.maxEndpointsPerSlice,
    batchPeriodMs: { endpoints: batchMs, endpointslice: batchMs, endpointslicemirroring: batchMs },
  };
}

/** Severity 0 to 1: from no faults to more than half of all requests. */
function requestFaults(severity: number): Fault[] {
  if (severity < 0.15) return [];
  const p = severity * 0.12;
  return [
    { latencyMs: 30, probability: 0.3 },
    { latencyMs: 400, probability: p },
    { verb: 'update', error: 'conflict', probability: p },
    { verb: 'delete', error: 'conflict', probability: p },
    { error: 'tooManyRequests', probability: p },
    { error: 'internal', probability: p },
    { error: 'reset', probability: p, afterEvents: 3 },
    { error: 'resetAfter', probability: p },
    { verb: 'watch', error: 'gone', probability: p },
  ];
}
