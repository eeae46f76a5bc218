import type { Topic } from '@sluice/bus';
import { FakeApiServer, FaultPlan } from '@sluice/fake-apiserver';
import { type Logger, type Random, randomInteger, seededRandom, silentLogger, VirtualClock } from '@sluice/runtime';
import { advance } from '@sluice/runtime/testing';
import type { Settings } from '@sluice/service-state';
import { whatAFreshStartWrites, whatIsWrong } from './at-rest.ts';
import { Audit } from './audit.ts';
import { LosableBus } from './losable-bus.ts';
import { type Backup, LosableStore } from './losable-store.ts';
import { nodeObject, podObject } from './objects.ts';
import { RandomUser } from './random-user.ts';
import { leaseTimes, ScaledFleet } from './scaled-fleet.ts';
import { requestFaults, settingsOf } from './seeded-run.ts';

export type Loss = 'wiped' | 'put back' | 'restarted' | 'purged' | 'made anew' | 'last records lost';
export const losses: readonly Loss[] = ['wiped', 'put back', 'restarted', 'purged', 'made anew', 'last records lost'];

const partitions = 3;
const steps = 24;
const steadyServices = ['steady-a', 'steady-b', 'steady-c'];
const steadyPods = 5;
/** Uses of ports by all processes. Who goes round in a circle is far beyond. */
const mostCalls = 150_000;
const lagMs = 60_000;
/** For which slices may be there twice, after a wipe. */
const tidyingMs = 10_000;
const begin = Date.parse('2026-01-01T00:00:00Z');

/** One seed: a fleet of several processes per role whose members die and freeze while its infrastructure loses things. */
export class LossRun {
  /** What was lost and when. */
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
  readonly #bus: LosableBus;
  readonly #store: LosableStore;
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
    this.#bus = new LosableBus(partitions, this.#random.next() < 0.5);
    this.#audit = new Audit({ server: this.#server, clock, partitions, lagMs });
    this.#store = new LosableStore(clock, this.#audit);
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

  /** Seconds since it began. */
  get at(): number {
    return (this.#clock.now() - begin) / 1000;
  }

  /** What is wrong at the end; nothing, if all is well. */
  async play(): Promise<readonly string[]> {
    this.#user.begin();
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
    this.#fleet.mend();
    await advance(this.#clock, 400_000);
    const wrong = whatIsWrong(this.#server);
    const wrapIndented = await this.#stop();
    const spun = this.calls > mostCalls ? ['calls without end'] : [];
    const left = await this.#leftForFreshStart();
    return [...spun, ...this.#audit.problems, ...this.#needless(), ...wrong, ...wrapIndented, ...left];
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
   * Slices of what is steady are made once and never deleted. But a plan that is on its way when the store forgets
   * everything may be carried out besides the one that is decided then: what is there twice is tidied up.
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
    if (++this.calls > mostCalls) throw new Error('calls without end');
  }

  #look(): void {
    this.#audit.look();
  }

  #lose(): void {
    const loss = this.#losses[randomInteger(this.#random, 0, this.#losses.length - 1)];
    if (loss === undefined) return;
    this.notes.push(`+${(this.#clock.now() - begin) / 1000}s ${loss}`);
    switch (loss) {
      case 'wiped':
        this.#store.wipe();
        this.#wipes.push(this.#clock.now());
        // The next lease has a newer epoch even if it is taken at once.
        this.#clock.skipTo(this.#clock.now() + 1);
        return this.#audit.leasesForgotten(2 * leaseTimes.ttlMs);
      case 'put back':
        return this.#store.putBack(this.#backup);
      case 'restarted':
        return this.#store.restart();
      case 'purged':
        return this.#eachLog((log) => log.purge());
      case 'made anew':
        return this.#eachLog((log) => log.renew());
      case 'last records lost':
        return this.#eachLog((log) => log.loseLast(randomInteger(this.#random, 1, 10)));
    }
  }

  /** One, or those of a topic, or all of them. */
  #eachLog(act: (log: ReturnType<LosableBus['log']>) => void): void {
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

  /** Services that nobody means ill: their slices are made once. */
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
    return whatAFreshStartWrites(this.#server, {
      clock: this.#clock,
      seed: this.#seed + 4,
      settings,
      onRequest: () => this.#count(),
    });
  }
}

/** The server for users who must not touch what is steady. */
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
