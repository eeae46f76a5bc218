import { errorMessage, type Random, randomInteger } from '@sluice/platform';
import type { Role } from '@sluice/sluice';
import type { SimulatedProcess } from '../../doubles/simulated-process.ts';
import { longestFaultMs, skewedProcess } from '../process-faults.ts';
import type { SuitePorts } from '../suite.ts';
import type { ClusterStore } from './cluster-store.ts';
import { FleetProcess, type FleetProcessOptions, forget } from './fleet-process.ts';
import type { Interruption, RemovalSteps } from './removal-steps.ts';
import type { ServedCluster } from './served-cluster.ts';

interface FleetProcessesOptions {
  readonly ports: SuitePorts;
  readonly store: ClusterStore;
  readonly steps: RemovalSteps;
  /** The clusters that the configuration lists. */
  readonly configured: () => readonly ServedCluster[];
  /** Processes are down or frozen for up to this time, in milliseconds. */
  readonly onDisturb: (forMs: number) => void;
  readonly onRequest: (sender: FleetProcess, cluster: ServedCluster) => void;
}

type EventKind = 'fleet is down' | 'process is killed' | 'process stops' | 'process freezes';
type Events = Readonly<Record<EventKind, (random: Random) => string | undefined>>;

const replacedWithinMs = 2_000;

/** Starts, freezes, ends and replaces the processes of a fleet, and runs operators' commands. */
export class FleetProcesses {
  readonly #options: FleetProcessesOptions;
  readonly #roles: readonly Role[];
  readonly #processes = new Set<FleetProcess>();
  readonly #awakeSince = new WeakMap<SimulatedProcess, number>();
  /** Processes of commands that forget a cluster. */
  readonly #forgetting = new Set<SimulatedProcess>();
  #started = 0;
  #commands = 0;
  #isDown = true;
  #isStopping = false;

  constructor(options: FleetProcessesOptions) {
    this.#options = options;
    const { random } = options.ports;
    this.#roles = random.next() < 0.5 ? ['worker', 'worker'] : ['watcher', 'watcher', 'reconciler', 'writer'];
  }

  readonly events: Events = {
    'fleet is down': (random) => this.endAll(random),
    'process is killed': (random) =>
      this.#withOne(random, ({ process }) => {
        process.kill();
        this.killed(process);
      }),
    'process stops': (random) =>
      this.#withOne(random, (one) => {
        this.#processes.delete(one);
        void one.stop();
        this.#replace(one);
      }),
    'process freezes': (random) =>
      this.#withOne(random, ({ process }) => this.freeze(process, randomInteger(random, 100, longestFaultMs))),
  };

  get isDown(): boolean {
    return this.#isDown;
  }

  /** Whether a command that forgets a cluster is running. */
  get isForgetting(): boolean {
    return this.#forgetting.size > 0;
  }

  /** When the process last thawed; undefined: it never has. */
  awakeSince(process: SimulatedProcess): number | undefined {
    return this.#awakeSince.get(process);
  }

  startAll(): void {
    if (!this.#isDown || this.#isStopping) return;
    this.#isDown = false;
    for (const role of this.#roles) this.#start(role);
  }

  /** Kills all processes at once, and starts them again after a while. */
  endAll(random: Random, forMs = randomInteger(random, 100, longestFaultMs)): string | undefined {
    if (this.#isDown || this.#isStopping) return undefined;
    this.#isDown = true;
    for (const { process } of this.#processes) process.kill();
    this.#processes.clear();
    this.#options.onDisturb(forMs);
    this.#options.ports.clock.schedule(forMs, () => this.startAll());
    return `the fleet is down for ${forMs} ms`;
  }

  /** Replaces a process that was killed. */
  killed(process: SimulatedProcess): void {
    const one = [...this.#processes].find((other) => other.process === process);
    if (one === undefined) {
      // A command is not repeated, and a process that was stopping is replaced already.
      this.#forgetting.delete(process);
      return;
    }
    this.#processes.delete(one);
    this.#replace(one);
  }

  freeze(process: SimulatedProcess, forMs: number): void {
    process.freeze();
    this.#options.onDisturb(forMs);
    this.#options.ports.clock.schedule(forMs, () => this.#thaw(process));
  }

  thawAll(): void {
    for (const { process } of this.#processes) this.#thaw(process);
  }

  /** Stops all processes in order; none is started from now on. */
  async stop(): Promise<void> {
    this.#isStopping = true;
    await Promise.all([...this.#processes].map((one) => one.stop()));
  }

  /** Runs `sluice clusters forget`, which may be interrupted at one of its steps, and returns the name of its process. */
  forget(cluster: ServedCluster, interruption?: Interruption): string {
    const name = `command-${this.#commands++}`;
    const options = this.#optionsOf(name);
    const { ports, steps } = this.#options;
    if (interruption !== undefined) steps.begin(cluster.name, cluster.identity, interruption, options.process);
    this.#forgetting.add(options.process);
    const ended = (what: string) => {
      this.#forgetting.delete(options.process);
      ports.note(name, () => what);
    };
    forget(options, cluster.name).then(
      () => ended('done'),
      (error: unknown) => ended(errorMessage(error)),
    );
    return name;
  }

  #withOne(random: Random, act: (one: FleetProcess) => void): string | undefined {
    const one = [...this.#processes][Math.floor(random.next() * this.#processes.size)];
    if (one === undefined) return undefined;
    act(one);
    return one.name;
  }

  #start(role: Role): void {
    if (this.#isDown || this.#isStopping) return;
    const { ports, onRequest } = this.#options;
    const one = new FleetProcess(this.#optionsOf(`${role}-${this.#started++}`), role, onRequest);
    this.#processes.add(one);
    one.done.catch((error: unknown) => {
      if (one.process.isDead) return;
      ports.violations.report('no exception', `${one.name} ends: ${errorMessage(error)}`);
    });
  }

  #optionsOf(name: string): FleetProcessOptions {
    const { ports, store, steps, configured } = this.#options;
    const { clock, random, logger } = ports;
    const process = skewedProcess(clock, random);
    return { name, process, store, steps, configured, clock, random, logger: logger(name) };
  }

  #thaw(process: SimulatedProcess): void {
    if (!process.isFrozen) return;
    this.#awakeSince.set(process, this.#options.ports.clock.now());
    process.thaw();
  }

  #replace({ role }: FleetProcess): void {
    const { ports, onDisturb } = this.#options;
    onDisturb(replacedWithinMs);
    ports.clock.schedule(randomInteger(ports.random, 0, replacedWithinMs), () => this.#start(role));
  }
}
