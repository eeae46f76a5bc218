import { type LogFields, type Logger, seededRandom, VirtualClock } from '@sluice/platform';
import { advance } from '@sluice/platform/testing';
import { MemoryDeadLetters } from '@sluice/store';
import { formatFields } from './describe.ts';
import { Disturbances } from './disturbances.ts';
import { FaultyBus } from './doubles/faulty-bus.ts';
import { LossyStore } from './doubles/lossy-store.ts';
import { Operations } from './doubles/operations.ts';
import { RedisStoreDouble } from './doubles/redis-store.ts';
import type { SimulatedStore, StoreBackup } from './doubles/simulated-store.ts';
import { StoreFaults } from './doubles/store-faults.ts';
import { swallowed } from './doubles/swallowed.ts';
import { withoutPreconditions } from './doubles/without-preconditions.ts';
import type { Interrupter } from './exhaustive/interrupter.ts';
import { inject } from './faults.ts';
import { Fleet, type Member } from './fleet.ts';
import { InjectedFaults } from './injected-faults.ts';
import { DeadLetterObserver } from './invariants/dead-letter-observer.ts';
import { EndOfRun } from './invariants/end-of-run.ts';
import { FailurePaces } from './invariants/failure-paces.ts';
import { Invariants } from './invariants/invariants.ts';
import { ReplayedLogs } from './invariants/replayed-logs.ts';
import { checkOwners } from './invariants/working-owners.ts';
import { runModelChecks } from './models/model-checks.ts';
import { isFault, isLossy, isLossyFault, type Scenario, type ScenarioEvent } from './scenario.ts';
import { settingsOf } from './settings-of.ts';
import { SimulatedCluster } from './simulated-cluster.ts';
import { boundAfter } from './staleness-bound.ts';
import { type Servers, startServers } from './start-servers.ts';
import { runSuite } from './suites/run-suite.ts';
import { Timeline, type TimelineEntry } from './timeline.ts';
import { type Violation, Violations } from './violations.ts';
import type { World } from './world.ts';

const begin = Date.parse('2026-01-01T00:00:00Z');
/** Maximum uses of ports by all processes; an endless loop exceeds it by far. */
const mostCalls = 100_000;
/** Time between two checks of what is written. */
const tickMs = 250;
/** How long a fleet may take to stop. */
const stopWithinMs = 20_000;
/** Time without events at the start, in milliseconds. */
const warmUpMs = 3_000;
/** How long the fleet must have been right at the end. */
const calmMs = 2_500;

export interface RunResult {
  readonly scenario: Scenario;
  readonly violations: readonly Violation[];
  /** Length of the run in virtual time, in milliseconds. */
  readonly virtualMs: number;
  /** Uses of ports. */
  readonly calls: number;
  /** Longest time a Service was wrong after the last disturbance, in milliseconds. */
  readonly longestStaleMs: number;
  /** How long a Service might be wrong at the end of the run, in milliseconds. */
  readonly boundMs: number;
  readonly timeline: readonly TimelineEntry[];
}

export interface RunOptions {
  /** Entries of the timeline to keep. Default: the last 40. */
  readonly timeline?: number;
  /** How long a Service may be wrong after the last disturbance, in milliseconds. Default: depends on the faults. */
  readonly boundMs?: number;
  /** Interrupts the run at one place. */
  readonly interrupter?: Interrupter;
}

/** Runs a scenario until its end or the first violation. */
export async function simulate(scenario: Scenario, options: RunOptions = {}): Promise<RunResult> {
  const clock = new VirtualClock(begin);
  const { all: wrong } = scenario.small ? new Violations(() => 0) : await runModelChecks(scenario.seed);
  if (wrong.length > 0)
    return { scenario, violations: wrong, virtualMs: 0, calls: 0, longestStaleMs: 0, boundMs: 0, timeline: [] };
  if (scenario.suite !== undefined) {
    const result = await runSuite(scenario.suite, scenario, clock, options.timeline ?? 40);
    return { scenario, calls: 0, longestStaleMs: 0, boundMs: 0, ...result };
  }
  return new Simulation(scenario, options, clock, await startServers(scenario, clock)).run();
}

class Simulation {
  readonly #scenario: Scenario;
  readonly #clock: VirtualClock;
  readonly #timeline: Timeline;
  readonly #violations: Violations;
  readonly #clusters: readonly SimulatedCluster[];
  readonly #world: World;
  readonly #fleet: Fleet;
  readonly #invariants: Invariants;
  readonly #endOfRun: EndOfRun;
  readonly #store: SimulatedStore;
  readonly #deadLetters: DeadLetterObserver;
  readonly #backups: StoreBackup[] = [];
  readonly #givenBoundMs: number | undefined;
  readonly #faults = new InjectedFaults();
  readonly #replayedLogs: ReplayedLogs | undefined;
  readonly #interrupter: Interrupter | undefined;
  readonly #disturbances = new Disturbances(begin);
  /** When watchers list again after the last fault, at the latest. */
  #listedAgainAt = begin;
  #calls = 0;
  #isStopping = false;

  constructor(scenario: Scenario, options: RunOptions, clock: VirtualClock, { lua, log }: Servers) {
    this.#scenario = scenario;
    this.#clock = clock;
    this.#interrupter = options.interrupter;
    const { seed, recordBytes, disabled } = scenario;
    const atMs = () => clock.now() - begin;
    this.#timeline = new Timeline(options.timeline ?? 40);
    const violations = new Violations(atMs);
    this.#violations = violations;
    const random = seededRandom(seed + 1);
    const clusters = Array.from(
      { length: scenario.clusters },
      (_, i) => new SimulatedCluster(i, clock, Math.imul(seed + 2, 31) + i, scenario),
    );
    this.#clusters = clusters;
    const lossy = isLossy(scenario);
    this.#givenBoundMs = options.boundMs;
    const note = (actor: string, what: () => string) => this.#note(actor, what);
    const faults = this.#faults;
    const invariants = new Invariants({
      scenario,
      faults,
      clock,
      clusters,
      violations,
      note,
      store: () => this.#store,
      disturbance: (name) => this.#disturbances.of(name),
    });
    this.#invariants = invariants;
    const observer = invariants.storeObserver;
    const fencing = !disabled.includes('fencing');
    this.#store = lua ? new RedisStoreDouble({ lua, clock, observer }) : new LossyStore({ clock, fencing, observer });
    const bus = new FaultyBus({
      bus: log,
      clock,
      random: seededRandom(seed + 3),
      observer: invariants.busObserver,
      recordsPerRead: scenario.recordsPerRead,
      swallows: swallowed(scenario, begin + warmUpMs),
    });
    this.#deadLetters = new DeadLetterObserver(new MemoryDeadLetters(), (letter) =>
      invariants.losses.deadLettered(letter),
    );
    const storeFaults = new StoreFaults(seededRandom(seed + 4));
    const operations = new Operations(clock, (operation, { member, scope }) =>
      note('fault', () => `strikes ${member}: ${operation} ${scope}`),
    );
    const settings = settingsOf(scenario);
    // Chunks and the streams of JetStream are not kept.
    this.#replayedLogs =
      scenario.bus === 'model' && recordBytes === null && !lossy
        ? new ReplayedLogs({
            ...{ log, store: () => this.#store, partitions: scenario.partitions, settings, violations },
            isWorker: scenario.processes !== 'roles',
          })
        : undefined;
    this.#fleet = new Fleet({
      processes: scenario.processes,
      wire: scenario.wire,
      ...{ clusters, clock, seed, random, settings, bus, store: this.#store, storeFaults, operations },
      deadLetters: this.#deadLetters,
      histories: invariants.histories,
      ownLeases: invariants.ownLeases,
      failurePaces: new FailurePaces(clock, violations),
      disabled,
      digestPeriodMs: disabled.includes('digests') ? null : 1_000,
      onCall: () => this.#count(),
      atEffect: ({ role }) => (this.#isStopping ? undefined : this.#interrupter?.atEffect(role)),
      onEnd: (member) => this.#end(member),
      onLocalDelivery: (member, deliveries) => {
        invariants.deliveredLocally(member, deliveries);
        this.#replayedLogs?.deliveredLocally(deliveries);
      },
      logger: (member) => this.#logger(member),
      auditRequests: (member, cluster) =>
        invariants.countedWrites.requests(
          member,
          cluster.identity,
          invariants.foreignWrites.requests(cluster, invariants.requests.audit(member, cluster)),
        ),
      metrics: invariants.countedWrites.metrics,
      writtenServer: ({ server }) => {
        const written = invariants.foreignWrites.writtenServer(server);
        return disabled.includes('preconditions') ? withoutPreconditions(written) : written;
      },
    });
    this.#world = {
      ...{
        clock,
        clusters,
        fleet: this.#fleet,
        bus,
        log,
        store: this.#store,
        storeFaults,
        operations,
        backups: this.#backups,
      },
    };
    this.#endOfRun = new EndOfRun({
      scenario,
      clock,
      world: this.#world,
      faults,
      invariants,
      violations,
      replayedLogs: this.#replayedLogs,
      checkAlways: () => this.#check(),
    });
    for (const cluster of clusters) this.#noteWrites(cluster);
  }

  async run(): Promise<RunResult> {
    await this.#play();
    const { all: violations } = this.#violations;
    return {
      scenario: this.#scenario,
      violations,
      virtualMs: this.#clock.now() - begin,
      calls: this.#calls,
      longestStaleMs: this.#invariants.staleness.longestMs,
      boundMs: this.#boundMs,
      timeline: this.#timeline.entries,
    };
  }

  async #play(): Promise<void> {
    const { events, activeMs } = this.#scenario;
    this.#startFleet();
    this.#disturbances.add(begin, warmUpMs, this.#clusters);
    if (!(await this.#until(begin + warmUpMs))) return;
    this.#takeBackups();
    for (const event of events) {
      if (!(await this.#until(begin + warmUpMs + event.atMs))) return;
      this.#act(event);
    }
    if (!(await this.#until(begin + warmUpMs + activeMs))) return;
    this.#fleet.thawAll();
    for (const cluster of this.#clusters) cluster.finishInputs();
    if (!(await this.#settleDown())) return;
    await this.#endOfRun.check(this.#boundMs + this.#invariants.foreignWrites.longestPauseMs);
    if (this.#violations.all.length === 0) await this.#stop();
  }

  #startFleet(): void {
    const random = seededRandom(this.#scenario.seed + 5);
    for (const index of this.#clusters.keys()) this.#fleet.start('watcher', index);
    this.#fleet.start('reconciler');
    this.#fleet.start('writer');
    if (this.#scenario.small) return;
    if (random.next() < 0.5) this.#fleet.start('reconciler');
    if (random.next() < 0.5) this.#fleet.start('writer');
    if (random.next() < 0.5) this.#fleet.start('watcher');
  }

  #act({ kind, seed }: ScenarioEvent): void {
    const random = seededRandom(seed);
    if (kind === 'user' || kind === 'steady') {
      const cluster = this.#clusters[Math.floor(random.next() * this.#clusters.length)];
      this.#interrupter?.beforeAction(this.#world);
      this.#note('user', () => `${kind} acts in ${cluster?.name}`);
      if (kind === 'user') cluster?.act(random);
      else cluster?.flipSteady(random);
      if (random.next() < 0.05) this.#takeBackups();
      return;
    }
    if (!isFault(kind)) throw new RangeError(`no fleet has the event ${kind}`);
    this.#faults.add(kind);
    const { forMs, what, only, retryMs = 0 } = inject(kind, random, this.#world);
    this.#note('fault', () => what);
    this.#listedAgainAt = Math.max(this.#listedAgainAt, this.#clock.now() + forMs + retryMs);
    const lateMs = isLossyFault(kind) ? 2_000 : 0;
    this.#disturbances.add(this.#clock.now(), forMs + lateMs, only === undefined ? this.#clusters : [only]);
  }

  #end(member: Member): void {
    this.#note('fault', () => `${member.name} ends`);
    this.#interrupter?.ended(member, this.#world);
  }

  #takeBackups(): void {
    this.#backups.push(this.#store.backup());
    for (const cluster of this.#clusters) cluster.takeBackup();
  }

  /** How long a Service may be wrong after the last disturbance, in milliseconds. */
  get #boundMs(): number {
    return this.#givenBoundMs ?? boundAfter(this.#faults, this.#scenario);
  }

  /** Advances to a time, checking on the way. Returns false after a violation. */
  async #until(time: number): Promise<boolean> {
    while (this.#clock.now() < time) {
      await advance(this.#clock, Math.min(tickMs, time - this.#clock.now()));
      this.#check();
      if (this.#violations.all.length > 0) return false;
    }
    return true;
  }

  /** Waits until everything has been right for a while. */
  async #settleDown(): Promise<boolean> {
    let rightSince = this.#clock.now();
    const from = Math.max(rightSince, this.#disturbances.endedAt);
    for (;;) {
      await advance(this.#clock, tickMs);
      const wrong = this.#check();
      if (this.#violations.all.length > 0) return false;
      const now = this.#clock.now();
      if (wrong > 0 || now < this.#disturbances.endedAt) rightSince = now;
      else if (now - rightSince >= calmMs) return true;
      else if (now > from + this.#boundMs + this.#invariants.foreignWrites.longestPauseMs + calmMs + tickMs) {
        this.#violations.report('bounded staleness', 'what is written changes again and again');
        return false;
      }
    }
  }

  #check(): number {
    let wrong = 0;
    for (const cluster of this.#clusters) {
      const { until } = this.#disturbances.of(cluster.name);
      wrong += this.#invariants.staleness.check(cluster, this.#clock.now(), until, this.#boundMs);
    }
    checkOwners(
      { ...this.#world, owners: this.#invariants.owners, partitions: this.#scenario.partitions },
      this.#disturbances.endedAt,
      this.#listedAgainAt,
    );
    if (this.#calls > mostCalls) this.#violations.report('bounded', `${this.#calls} uses of ports`);
    this.#invariants.lossless.check(this.#invariants.records, this.#deadLetters);
    return wrong;
  }

  async #stop(): Promise<void> {
    this.#isStopping = true;
    let stopped = false;
    void this.#fleet.stop().then(() => {
      stopped = true;
    });
    for (let waited = 0; !stopped && waited < stopWithinMs; waited += tickMs) await advance(this.#clock, tickMs);
    if (!stopped) this.#violations.report('stops', 'the fleet does not stop within 20 s');
  }

  #count(): void {
    if (++this.#calls > 2 * mostCalls) throw new Error('endless calls');
  }

  #note(actor: string, what: () => string): void {
    const atMs = this.#clock.now() - begin;
    this.#timeline.add(() => ({ atMs, actor, what: what() }));
  }

  #noteWrites(cluster: SimulatedCluster): void {
    cluster.server.onCommit((resource, { type, object }) => {
      if (resource === 'events') return;
      this.#note(
        cluster.name,
        () => `${type} ${resource} ${object.metadata.name} at ${object.metadata.resourceVersion}`,
      );
    });
  }

  #logger(member: string, bound: LogFields = {}): Logger {
    const at =
      (level: string) =>
      (message: string, fields: LogFields = {}) => {
        this.#note(member, () => `${level} ${message} ${formatFields({ ...bound, ...fields })}`);
        if (level === 'error') this.#invariants.lossless.checkError(member, message, fields);
      };
    return {
      ...{ debug: at('debug'), info: at('info'), warn: at('warn'), error: at('error') },
      with: (fields) => this.#logger(member, { ...bound, ...fields }),
    };
  }
}
