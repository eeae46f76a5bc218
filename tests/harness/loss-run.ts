import type { Topic } from '@sluice/bus';
import { FakeApiServer, FaultPlan } from '@sluice/fake-apiserver';
import { type Logger, type Random, randomInteger, seededRandom, silentLogger, VirtualClock } from '@sluice/runtime';
import { advance } from '@sluice/runtime/testing';
import type { Settings } from '@sluice/service-state';
import { Audit } from './audit.ts';
import { differencesFromExpected, writesOfFreshStart } from './converged.ts';
import { LossyBus } from './lossy-bus.ts';
import { type Backup, LossyStore } from './lossy-store.ts';
import { nodeObject, podObject } from './objects.ts';
import { RandomUser } from './random-user.ts';
import { leaseTimes, ScaledFleet } from './scaled-fleet.ts';
import { requestFaults, settingsOf } from './seeded-run.ts';

export type Loss = 'wiped' | 'restored' | 'restarted' | 'purged' | 'recreated' | 'last records lost';
export const losses: readonly Loss[] = ['wiped', 'restored', 'restarted', 'purged', 'recreated', 'last records lost'];

const partitions = 3;
const steps = 24;
const steadyServices = ['steady-a', 'steady-b', 'steady-c'];
const steadyPods = 5;
/** Maximum uses of ports by all processes; an endless loop exceeds it by far. */
const mostCalls = 150_000;
const lagMs = 60_000;
/** How long duplicate slices may exist after a wipe. */
const tidyingMs = 10_000;
const begin = Date.parse('2026-01-01T00:00:00Z');

/** One seed: a fleet with several processes per role that crash and freeze while bus and store lose data. */
export class LossRun {
  /** Losses with their times. */
  readonly notes: string[] = [];
  /** Uses of ports so far. */
  calls = 0;
  readonly #seed: number;
  readonly #losses: readonly Loss[];
  readonly #clock = new VirtualClock(begin);
  readonly #random: Random;
  readonly #server: FakeApiServer;
  readonly #user: RandomUser;
  readonly #faults: FaultPlan;
  readonly #bus: LossyBus;
  readonly #store: LossyStore;
  readonly #audit: Audit;
  readonly #fleet: ScaledFleet;
  readonly #settings: Settings;
  readonly #wipes: number[] = [];
  #backup: Backup = new Map();

  constructor(seed: number, losses: readonly Loss[], logger: (member: string) => Logger = () => silentLogger) {
    this.#seed = seed;
    this.#losses = losses;
    const clock = this.#clock;
    this.#random = seededRandom(seed);
    this.#server = new FakeApiServer({ clock, random: seededRandom(seed + 1), bookmarkIntervalMs: 60_000 });
    this.#server.create('namespaces', { metadata: { name: 'shop' } });
    this.#user = new RandomUser(hidingSteady(this.#server), seededRandom(seed + 2), clock);
    this.#faults = new FaultPlan([], seededRandom(seed + 3));
    this.#bus = new LossyBus(partitions, this.#random.next() < 0.5);
    this.#audit = new Audit({ server: this.#server, clock, partitions, lagMs });
    this.#store = new LossyStore(clock, this.#audit);
    this.#settings = settingsOf(seededRandom(seed + 6));
    this.#fleet = new ScaledFleet({
      server: this.#server,
      clock,
      seed,
      random: this.#random,
      faults: this.#faults,
      settings: this.#settings,
      bus: this.#bus,
      store: this.#store,
      audit: this.#audit,
      onCall: () => this.#count(),
      logger,
    });
  }

  /** Seconds since the start. */
  get at(): number {
    return (this.#clock.now() - begin) / 1000;
  }

  /** Returns the violations; empty if there are none. */
  async play(): Promise<readonly string[]> {
    this.#user.createInitialObjects();
    this.#beginSteady();
    this.#look();
    for (const role of ['watcher', 'reconciler', 'writer', 'watcher', 'reconciler', 'writer', 'reconciler'] as const) {
      this.#fleet.start(role);
    }
    await advance(this.#clock, 10_000);
    if (this.#random.next() < 0.7) for (const fault of requestFaults(this.#random.next())) this.#faults.add(fault);
    for (let step = 0; step < steps; step++) {
      for (let n = randomInteger(this.#random, 1, 3); n > 0; n--) this.#user.step();
      if (this.#random.next() < 0.3) this.#flipSteady();
      this.#look();
      if (this.#random.next() < 0.45) this.#fleet.disturb();
      if (this.#random.next() < 0.15) this.#backup = this.#store.backup();
      if (this.#random.next() < 0.25) this.#lose();
      await advance(this.#clock, this.#pause());
    }
    this.#faults.clear();
    await advance(this.#clock, 20_000);
    this.#fleet.thawAll();
    await advance(this.#clock, 400_000);
    const wrong = differencesFromExpected(this.#server);
    const hanging = await this.#stop();
    const spun = this.calls > mostCalls ? ['endless calls'] : [];
    const left = await this.#leftForFreshStart();
    return [...spun, ...this.#audit.problems, ...this.#needless(), ...wrong, ...hanging, ...left];
  }

  async #stop(): Promise<readonly string[]> {
    let stopped = false;
    void this.#fleet.stop().then(() => {
      stopped = true;
    });
    await advance(this.#clock, 60_000);
    return stopped ? [] : ['the fleet does not stop'];
  }

  /**
   * Slices of steady Services are created once and never deleted. After a wipe, a plan in flight may be applied next to
   * a newly decided one, so duplicates are cleaned up.
   */
  #needless(): readonly string[] {
    const { steady } = this.#audit;
    const afterWipe = (at: number) => this.#wipes.some((wipe) => at >= wipe && at < wipe + tidyingMs);
    const counted = steady.filter(({ at }) => !afterWipe(at));
    const most = steadyServices.length * Math.ceil(steadyPods / this.#settings.maxEndpointsPerSlice);
    const needless = counted.length > most || counted.some(({ verb }) => verb === 'delete');
    return needless ? steady.map(({ what }) => what) : [];
  }

  #count(): void {
    if (++this.calls > mostCalls) throw new Error('endless calls');
  }

  #look(): void {
    this.#audit.observe();
  }

  #lose(): void {
    const loss = this.#losses[randomInteger(this.#random, 0, this.#losses.length - 1)];
    if (loss === undefined) return;
    this.notes.push(`+${(this.#clock.now() - begin) / 1000}s ${loss}`);
    switch (loss) {
      case 'wiped':
        this.#store.wipe();
        this.#wipes.push(this.#clock.now());
        // The next lease gets a higher fencing token even if it is acquired immediately.
        this.#clock.skipTo(this.#clock.now() + 1);
        return this.#audit.leasesLost(2 * leaseTimes.ttlMs);
      case 'restored':
        return this.#store.restore(this.#backup);
      case 'restarted':
        return this.#store.restart();
      case 'purged':
        return this.#eachLog((log) => log.purge());
      case 'recreated':
        return this.#eachLog((log) => log.recreate());
      case 'last records lost':
        return this.#eachLog((log) => log.loseLast(randomInteger(this.#random, 1, 10)));
    }
  }

  /** Applies to one partition, one topic or everything. */
  #eachLog(act: (log: ReturnType<LossyBus['log']>) => void): void {
    const topics: readonly Topic[] = ['changes', 'mutations', 'requests'];
    const only = this.#random.next() < 0.5 ? randomInteger(this.#random, 0, partitions - 1) : undefined;
    const topic = this.#random.next() < 0.7 ? topics[randomInteger(this.#random, 0, 2)] : undefined;
    for (const name of topics) {
      if (topic !== undefined && name !== topic) continue;
      for (let partition = 0; partition < partitions; partition++) {
        if (only === undefined || only === partition) act(this.#bus.log(name, partition));
      }
    }
    this.notes.push(`  ${topic ?? 'all'} ${only ?? 'all'}`);
  }

  /** Services without disruptive changes, whose slices are created once. */
  #beginSteady(): void {
    this.#server.put('nodes', nodeObject('steady', 'a'));
    for (const name of steadyServices) {
      const spec = { selector: { app: name }, ports: [{ name: 'http', port: 80, targetPort: 8080, protocol: 'TCP' }] };
      this.#server.create('services', { metadata: { name, namespace: 'shop' }, spec });
      for (let n = 0; n < steadyPods; n++) this.#putSteady(name, n, true);
    }
  }

  #flipSteady(): void {
    const name = steadyServices[randomInteger(this.#random, 0, steadyServices.length - 1)] ?? '';
    this.#putSteady(name, 0, this.#random.next() < 0.5);
  }

  #putSteady(service: string, n: number, ready: boolean): void {
    const since = `${new Date(this.#clock.now()).toISOString().slice(0, 19)}Z`;
    const name = `${service}-pod${n}`;
    const ips = [`10.${service.charCodeAt(7)}.0.${n}`];
    this.#server.put('pods', podObject({ name, labels: { app: service }, ips, ready, node: 'steady', since }));
  }

  #pause(): number {
    const chance = this.#random.next();
    if (chance < 0.3) return randomInteger(this.#random, 0, 10);
    return chance < 0.7 ? randomInteger(this.#random, 1, 400) : randomInteger(this.#random, 1_000, 20_000);
  }

  #leftForFreshStart(): Promise<string[]> {
    const settings = this.#settings;
    return writesOfFreshStart(this.#server, {
      clock: this.#clock,
      seed: this.#seed + 4,
      settings,
      onRequest: () => this.#count(),
    });
  }
}

/** The server for users, without the steady objects. */
function hidingSteady(server: FakeApiServer): FakeApiServer {
  return new Proxy(server, {
    get(target, property) {
      const value: unknown = Reflect.get(target, property, target);
      if (typeof value !== 'function') return value;
      if (property !== 'list') return value.bind(target);
      return (...given: unknown[]) => {
        const page = value.apply(target, given) as ReturnType<FakeApiServer['list']>;
        return { ...page, items: page.items.filter(({ metadata }) => !metadata.name.startsWith('steady')) };
      };
    },
  });
}
