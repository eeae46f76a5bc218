import type { Bus } from '@sluice/bus';
import { StoredIdentities } from '@sluice/fleet/clusters';
import { errorMessage, type Logger, type Random, randomInteger } from '@sluice/platform';
import type { Role } from '@sluice/sluice';
import type { Lua } from '@sluice/store/redis/testing';
import { skewedProcess } from '../process-faults.ts';
import type { SuitePorts, SuiteWorld } from '../suite.ts';
import type { SuiteEventKind } from '../suite-kinds.ts';
import { ClusterStore } from './cluster-store.ts';
import { FleetProcess, type FleetProcessOptions, forget } from './fleet-process.ts';
import { type Interruption, interruptionOf, RemovalSteps } from './removal-steps.ts';
import { ServedCluster } from './served-cluster.ts';

const partitions = 2;
const replacedWithinMs = 2_000;
const longestFaultMs = 25_000;
/** Comparing all Services takes longer than a tick of the suite, in milliseconds. */
const compareMs = 1_000;
/** A change is written within this time if the fleet works, in milliseconds. */
const writtenWithinMs = 20_000;
const longestBackoffMs = 30_000;
/**
 * The longest backoff of a connection, a lease of a removal that was killed, and a claim that expires: then an added cluster is
 * served.
 */
const servedWithinMs = longestBackoffMs + 15_000 + 20_000 + writtenWithinMs;
/** Nobody has watched a cluster for 30 s, and a removal that was killed has a lease for 15 s. */
const removedWithinMs = 30_000 + 2 * 15_000 + 10_000;
/** Processes read the configuration every 5 s, and the work that they stop then ends soon. */
const requestsEndWithinMs = 15_000;

/** Long enough for processes to start, to fail to connect, and to say so, in milliseconds. */
const unreachableMs = 12_000;

const [stable, changing] = ['east', 'west'] as const;

/** A fleet from whose configuration a cluster is removed, while processes end at any step (ADR 0025 and 0082). */
export class ClusterWorld implements SuiteWorld<'clusters'> {
  readonly boundMs = servedWithinMs + removedWithinMs;
  readonly steps: RemovalSteps;
  readonly #ports: SuitePorts;
  readonly #store: ClusterStore;
  readonly #roles: readonly Role[];
  readonly #east: ServedCluster;
  /** The cluster whose name is in the configuration, or was. */
  #west: ServedCluster;
  /** Clusters that had its name before. */
  readonly #former: ServedCluster[] = [];
  readonly #removedAt = new Map<ServedCluster, number>();
  readonly #processes = new Set<FleetProcess>();
  /** When processes last stood still. */
  readonly #awakeSince = new WeakMap<FleetProcess['process'], number>();
  /** When the last record about a cluster was appended. */
  readonly #recordAt = new Map<ServedCluster, number>();
  #started = 0;
  #commands = 0;
  #forgetting = 0;
  #isFleetDown = false;
  #isStopping = false;
  #comparedAt = 0;
  /** When the Services of each cluster must be right. */
  readonly #rightAt = new Map<ServedCluster, number>();

  constructor(ports: SuitePorts, lua: Lua) {
    this.#ports = ports;
    const { clock, random, note } = ports;
    this.#store = new ClusterStore(lua, clock, partitions);
    this.#observe(this.#store.bus);
    this.steps = new RemovalSteps({
      onStep: ({ name }, step) => note(name, () => step),
      onRemove: ({ name }, identity) => this.#checkHolder(name, identity),
      onEnd: (process) => this.#killed(process),
      onFreeze: (process) => this.#freeze(process, longestFaultMs),
    });
    this.#east = new ServedCluster(stable, clock, random);
    this.#west = new ServedCluster(changing, clock, random);
    for (const cluster of [this.#east, this.#west]) this.#rightAt.set(cluster, clock.now() + servedWithinMs);
    this.#roles = random.next() < 0.5 ? ['worker', 'worker'] : ['watcher', 'watcher', 'reconciler', 'writer'];
    for (const role of this.#roles) this.#start(role);
  }

  act(kind: SuiteEventKind<'clusters'>, random: Random): string {
    return this.#events[kind](random) ?? 'without effect';
  }

  check(): void {
    const now = this.#ports.clock.now();
    if (now - this.#comparedAt < compareMs) return;
    this.#comparedAt = now;
    for (const cluster of [this.#east, this.#west]) {
      const [spoiled] = cluster.spoiled;
      if (spoiled !== undefined) this.#report('Services stay right', `in ${cluster.name}, ${spoiled} is gone`);
      if (now <= (this.#rightAt.get(cluster) ?? 0) || !this.#isServed(cluster)) continue;
      const [wrong] = cluster.differences;
      if (wrong !== undefined)
        this.#report('Services become right', `in ${cluster.name}, ${wrong} is missing or surplus`);
    }
  }

  heal(): void {
    for (const { process } of this.#processes) this.#thaw(process);
    for (const cluster of [this.#east, this.#west]) cluster.setDown(false);
    this.#startFleet();
    if (this.#isConfigured(this.#west)) void this.#accept();
    const { clock, random } = this.#ports;
    clock.schedule(writtenWithinMs, () => this.#events['Pods change'](random));
  }

  unfinished(): string | undefined {
    const wrong = [this.#east, this.#west].find((one) => this.#isConfigured(one) && one.differences.length > 0);
    if (wrong !== undefined) return `in ${wrong.name}, ${wrong.differences[0]} is missing or surplus`;
    const hidden = [this.#east, this.#west].find(
      (one) => this.#isConfigured(one) && !this.#store.isListed(one.identity),
    );
    if (hidden !== undefined) return `${hidden.name} is served and not listed`;
    const now = this.#ports.clock.now();
    for (const cluster of [...this.#former, this.#west]) {
      if (this.#isConfigured(cluster)) continue;
      const [left] = this.leftovers(cluster);
      if (left !== undefined) return `of the removed cluster ${cluster.identity}, the store has ${left.slice(0, 200)}`;
      if (now - (this.#recordAt.get(cluster) ?? 0) < writtenWithinMs)
        return `records about ${cluster.identity} are appended`;
    }
    if (this.#forgetting > 0) return 'a cluster is being forgotten';
    if (this.#isConfigured(this.#west) || !this.#store.isPinned(changing)) return undefined;
    // An operator completes what was interrupted.
    this.#forget();
    return `${changing} is still pinned`;
  }

  async stop(): Promise<void> {
    this.#isStopping = true;
    this.heal();
    await Promise.all([...this.#processes].map((one) => one.stop()));
  }

  /** What the store has of a cluster besides its pins. */
  leftovers(cluster: ServedCluster): readonly string[] {
    return this.#store.leftovers(cluster.identity, this.#isConfigured(this.#west) ? undefined : changing);
  }

  /** Removes the cluster from the configuration. A process may be interrupted at a step of what follows. */
  remove(interruption?: Interruption): string | undefined {
    const west = this.#west;
    if (!this.#isConfigured(west)) return undefined;
    this.steps.begin(west.name, west.identity, interruption);
    this.#removedAt.set(west, this.#ports.clock.now());
    this.#disturb(writtenWithinMs, this.#east);
    return `${west.name} is removed${describe(interruption)}`;
  }

  /** Adds the cluster again, or another one under its name. */
  add(another?: ServedCluster): string | undefined {
    if (this.#isConfigured(this.#west)) return undefined;
    if (another === undefined) this.#removedAt.delete(this.#west);
    else {
      this.#former.push(this.#west);
      this.#west = another;
    }
    this.#disturb(servedWithinMs, this.#west);
    return `${this.#west.name} is added`;
  }

  get #events(): Readonly<Record<SuiteEventKind<'clusters'>, (random: Random) => string | undefined>> {
    const { clock } = this.#ports;
    return {
      'cluster is removed or added': (random) => {
        // A process that still has it notices.
        if (random.next() < 0.5) this.#west.claim();
        return this.remove() ?? this.add();
      },
      'removal is interrupted': (random) => this.remove(interruptionOf(random)) ?? this.add(),
      'another cluster is added': (random) => this.add(new ServedCluster(changing, clock, random)),
      'fleet is down': (random) => this.#endFleet(random),
      'cluster is removed while the fleet is down': (random) => {
        const interruption = interruptionOf(random);
        if (!this.#isConfigured(this.#west) || this.#isFleetDown) return this.add();
        return `${this.#endFleet(random)}, and ${this.remove(interruption)}`;
      },
      'cluster is removed while it is unreachable': (random) => {
        const interruption = interruptionOf(random);
        const west = this.#west;
        if (!this.#isConfigured(west)) return this.add();
        west.setDown(true);
        this.#disturb(unreachableMs + longestFaultMs + servedWithinMs, west);
        clock.schedule(unreachableMs, () => {
          if (west === this.#west && !this.#isStopping) this.remove(interruption);
          this.#endFleet(random);
        });
        clock.schedule(unreachableMs + longestFaultMs, () => west.setDown(false));
        return `${this.#endFleet(random, 1_000)}, and once more after ${unreachableMs} ms, when ${west.name} is removed`;
      },
      'cluster is forgotten': () => this.#forget(),
      'cluster is forgotten twice': () => `${this.#forget()} and ${this.#forget()}`,
      'forgetting is interrupted': (random) => this.#forget(interruptionOf(random)),
      'API server is down': (random) => {
        const cluster = random.next() < 0.2 ? this.#east : this.#west;
        const forMs = randomInteger(random, 100, 2 * longestFaultMs);
        cluster.setDown(true);
        this.#disturb(forMs + servedWithinMs, cluster);
        clock.schedule(forMs, () => cluster.setDown(false));
        return `of ${cluster.name} for ${forMs} ms`;
      },
      'process is killed': (random) =>
        this.#withOne(random, (one) => {
          one.process.kill();
          this.#killed(one.process);
        }),
      'process stops': (random) =>
        this.#withOne(random, (one) => {
          this.#processes.delete(one);
          void one.stop();
          this.#replace(one);
        }),
      'process freezes': (random) =>
        this.#withOne(random, (one) => {
          this.#freeze(one.process, randomInteger(random, 100, longestFaultMs));
        }),
      'another fleet claims a cluster': (random) => {
        const cluster = random.next() < 0.2 ? this.#east : this.#west;
        cluster.claim();
        this.#disturb(servedWithinMs, cluster);
        return cluster.name;
      },
      'Pods change': (random) => {
        for (const cluster of [this.#east, this.#west]) {
          cluster.flip(random);
          this.#disturb(writtenWithinMs, cluster);
        }
        return 'in both clusters';
      },
    };
  }

  /** Bus and store lose nothing, so nothing is published again, and every plan is for a cluster that its writer knows. */
  #lossless(logger: Logger): Logger {
    return {
      ...logger,
      warn: (message, fields) => {
        if (message.startsWith('gap in change log')) this.#report('no resyncs', JSON.stringify(fields));
        logger.warn(message, fields);
      },
      error: (message, fields) => {
        if (message === 'record dead-lettered') this.#report('no dead letters', JSON.stringify(fields));
        logger.error(message, fields);
      },
      with: (fields) => this.#lossless(logger.with(fields)),
    };
  }

  #report(invariant: string, what: string): void {
    this.#ports.violations.report(invariant, what);
  }

  /** Whoever takes over the lease lists the cluster again. */
  #checkHolder(remover: string, identity: string): void {
    const holder = this.#store.holderOf(identity);
    if (holder === undefined || holder.split('/').includes(remover)) return;
    this.#report('only its holder removes a cluster', `${remover} removes the entry of ${identity}, held by ${holder}`);
  }

  #isConfigured(cluster: ServedCluster): boolean {
    return cluster === this.#east || (cluster === this.#west && !this.#removedAt.has(cluster));
  }

  /** Another cluster under a pinned name waits for an operator. */
  #isServed(cluster: ServedCluster): boolean {
    return this.#isConfigured(cluster) && !(cluster === this.#west && this.#former.length > 0);
  }

  #disturb(forMs: number, ...clusters: readonly ServedCluster[]): void {
    for (const cluster of clusters.length > 0 ? clusters : [this.#east, this.#west])
      this.#rightAt.set(cluster, Math.max(this.#rightAt.get(cluster) ?? 0, this.#ports.clock.now() + forMs));
  }

  #withOne(random: Random, act: (one: FleetProcess) => void): string | undefined {
    const one = [...this.#processes][Math.floor(random.next() * this.#processes.size)];
    if (one === undefined) return undefined;
    act(one);
    return one.name;
  }

  #start(role: Role): void {
    if (this.#isFleetDown || this.#isStopping) return;
    const one = new FleetProcess(this.#optionsOf(`${role}-${this.#started++}`), role, (sender, cluster) =>
      this.#requested(sender, cluster),
    );
    this.#processes.add(one);
    one.done.catch((error: unknown) => {
      if (!one.process.isDead) this.#report('no exception', `${one.name} ends: ${errorMessage(error)}`);
    });
  }

  #optionsOf(name: string): FleetProcessOptions {
    const { clock, random, logger } = this.#ports;
    return {
      ...{ name, process: skewedProcess(clock, random), store: this.#store, steps: this.steps, clock, random },
      configured: () => [this.#east, this.#west].filter((one) => this.#isConfigured(one)),
      logger: this.#lossless(logger(name)),
    };
  }

  #startFleet(): void {
    if (!this.#isFleetDown || this.#isStopping) return;
    this.#isFleetDown = false;
    for (const role of this.#roles) this.#start(role);
  }

  /** All processes end at once, and are started again after a while. */
  #endFleet(random: Random, forMs = randomInteger(random, 100, longestFaultMs)): string | undefined {
    if (this.#isFleetDown || this.#isStopping) return undefined;
    this.#isFleetDown = true;
    for (const { process } of this.#processes) process.kill();
    this.#processes.clear();
    this.#disturb(forMs + servedWithinMs);
    this.#ports.clock.schedule(forMs, () => this.#startFleet());
    return `the fleet is down for ${forMs} ms`;
  }

  #killed(process: FleetProcess['process']): void {
    const one = [...this.#processes].find((other) => other.process === process);
    if (one === undefined) {
      // A command is not repeated.
      this.#forgetting -= 1;
      return;
    }
    this.#processes.delete(one);
    this.#replace(one);
  }

  #freeze(process: FleetProcess['process'], forMs: number): void {
    const { clock } = this.#ports;
    process.freeze();
    this.#disturb(forMs + servedWithinMs);
    clock.schedule(forMs, () => this.#thaw(process));
  }

  #thaw(process: FleetProcess['process']): void {
    if (!process.isFrozen) return;
    this.#awakeSince.set(process, this.#ports.clock.now());
    process.thaw();
  }

  #replace({ role }: FleetProcess): void {
    const { clock, random } = this.#ports;
    this.#disturb(replacedWithinMs + servedWithinMs);
    clock.schedule(randomInteger(random, 0, replacedWithinMs), () => this.#start(role));
  }

  /** An operator runs `sluice clusters forget`, in a process that may be interrupted at one of its steps. */
  #forget(interruption?: Interruption): string {
    const name = `command-${this.#commands++}`;
    const options = this.#optionsOf(name);
    const { identity } = this.#west;
    if (interruption !== undefined) this.steps.begin(changing, identity, interruption, options.process);
    this.#forgetting += 1;
    this.#disturb(writtenWithinMs, this.#east);
    const ended = (what: string) => {
      if (!options.process.isDead) this.#forgetting -= 1;
      this.#ports.note(name, () => what);
    };
    forget(options, changing).then(
      () => ended('done'),
      (error: unknown) => ended(errorMessage(error)),
    );
    return `${name}${describe(interruption)}`;
  }

  /** An operator accepts the cluster that has the name now. */
  async #accept(): Promise<void> {
    const { identity, name } = this.#west;
    const pins = new StoredIdentities(this.#store.connect().clusterPins);
    await pins.accept(name, { identity, server: `https://${name}`, authorities: [] });
  }

  #requested({ name, process }: FleetProcess, cluster: ServedCluster): void {
    const removedAt = this.#removedAt.get(cluster);
    if (removedAt === undefined || process.isFrozen) return;
    const isReplaced = cluster !== this.#west;
    // A process that finds another cluster under the name leaves the former one once it has connected.
    const { upSince } = isReplaced ? this.#west : { upSince: 0 };
    if (upSince === undefined) return;
    const forMs = this.#ports.clock.now() - Math.max(removedAt, this.#awakeSince.get(process) ?? 0, upSince);
    if (forMs > requestsEndWithinMs + (isReplaced ? longestBackoffMs : 0))
      this.#report('no requests to removed clusters', `${name} sends one to ${cluster.identity} after ${forMs} ms`);
  }

  /** Notes when records about clusters are appended. */
  #observe(bus: Bus): void {
    const append = bus.append.bind(bus);
    bus.append = (topic, partition, records) => {
      for (const cluster of [...this.#former, this.#west])
        if (records.some(({ payload }) => Buffer.from(payload).includes(cluster.identity)))
          this.#recordAt.set(cluster, this.#ports.clock.now());
      return append(topic, partition, records);
    };
  }
}

const describe = (interruption: Interruption | undefined): string =>
  interruption === undefined ? '' : `; a process ${interruption.how} step ${interruption.step}`;
