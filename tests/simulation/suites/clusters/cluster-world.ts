import type { Bus } from '@sluice/bus';
import { StoredIdentities } from '@sluice/fleet/clusters';
import { type Logger, type Random, randomInteger } from '@sluice/platform';
import type { Lua } from '@sluice/store/redis/testing';
import { longestFaultMs } from '../process-faults.ts';
import type { SuitePorts, SuiteWorld } from '../suite.ts';
import type { SuiteEventKind } from '../suite-kinds.ts';
import { ClusterStore } from './cluster-store.ts';
import type { FleetProcess } from './fleet-process.ts';
import { FleetProcesses } from './fleet-processes.ts';
import { type Interruption, interruptionOf, RemovalSteps } from './removal-steps.ts';
import { ServedCluster } from './served-cluster.ts';

const partitions = 2;
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
  readonly #processes: FleetProcesses;
  readonly #east: ServedCluster;
  /** The cluster whose name is in the configuration, or was. */
  #west: ServedCluster;
  /** Clusters that had its name before. */
  readonly #former: ServedCluster[] = [];
  readonly #removedAt = new Map<ServedCluster, number>();
  /** When the last record about a cluster was appended. */
  readonly #recordAt = new Map<ServedCluster, number>();
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
      onEnd: (process) => this.#processes.killed(process),
      onFreeze: (process) => this.#processes.freeze(process, longestFaultMs),
    });
    this.#east = new ServedCluster(stable, clock, random);
    this.#west = new ServedCluster(changing, clock, random);
    for (const cluster of [this.#east, this.#west]) this.#rightAt.set(cluster, clock.now() + servedWithinMs);
    this.#processes = new FleetProcesses({
      ports: { ...ports, logger: (actor) => this.#lossless(ports.logger(actor)) },
      store: this.#store,
      steps: this.steps,
      configured: () => [this.#east, this.#west].filter((one) => this.#isConfigured(one)),
      onDisturb: (forMs) => this.#disturb(forMs + servedWithinMs),
      onRequest: (sender, cluster) => this.#checkRequest(sender, cluster),
    });
    this.#processes.startAll();
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
    this.#processes.thawAll();
    for (const cluster of [this.#east, this.#west]) cluster.setDown(false);
    if (!this.#isStopping) this.#processes.startAll();
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
    if (this.#processes.isForgetting) return 'a cluster is being forgotten';
    if (this.#isConfigured(this.#west) || !this.#store.isPinned(changing)) return undefined;
    // An operator completes what was interrupted.
    this.#forget();
    return `${changing} is still pinned`;
  }

  async stop(): Promise<void> {
    this.#isStopping = true;
    this.heal();
    await this.#processes.stop();
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
      ...this.#processes.events,
      'cluster is removed or added': (random) => {
        // A process that still has it notices.
        if (random.next() < 0.5) this.#west.claim();
        return this.remove() ?? this.add();
      },
      'removal is interrupted': (random) => this.remove(interruptionOf(random)) ?? this.add(),
      'another cluster is added': (random) => this.add(new ServedCluster(changing, clock, random)),
      'cluster is removed while the fleet is down': (random) => {
        const interruption = interruptionOf(random);
        if (!this.#isConfigured(this.#west) || this.#processes.isDown) return this.add();
        return `${this.#processes.endAll(random)}, and ${this.remove(interruption)}`;
      },
      'cluster is removed while it is unreachable': (random) => {
        const interruption = interruptionOf(random);
        const west = this.#west;
        if (!this.#isConfigured(west)) return this.add();
        west.setDown(true);
        this.#disturb(unreachableMs + longestFaultMs + servedWithinMs, west);
        clock.schedule(unreachableMs, () => {
          if (west === this.#west && !this.#isStopping) this.remove(interruption);
          this.#processes.endAll(random);
        });
        clock.schedule(unreachableMs + longestFaultMs, () => west.setDown(false));
        return `${this.#processes.endAll(random, 1_000)}, and once more after ${unreachableMs} ms, when ${west.name} is removed`;
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
      info: (message, fields) => {
        if (message.startsWith('change log begins')) this.#report('no resyncs', JSON.stringify(fields));
        logger.info(message, fields);
      },
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

  /** An operator runs `sluice clusters forget`. */
  #forget(interruption?: Interruption): string {
    this.#disturb(writtenWithinMs, this.#east);
    return `${this.#processes.forget(this.#west, interruption)}${describe(interruption)}`;
  }

  /** An operator accepts the cluster that has the name now. */
  async #accept(): Promise<void> {
    const { identity, name } = this.#west;
    const pins = new StoredIdentities(this.#store.connect().clusterPins);
    await pins.accept(name, { identity, server: `https://${name}`, authorities: [] });
  }

  #checkRequest({ name, process }: FleetProcess, cluster: ServedCluster): void {
    const removedAt = this.#removedAt.get(cluster);
    if (removedAt === undefined || process.isFrozen) return;
    const isReplaced = cluster !== this.#west;
    // A process that finds another cluster under the name leaves the former one once it has connected.
    const { upSince } = isReplaced ? this.#west : { upSince: 0 };
    if (upSince === undefined) return;
    const forMs = this.#ports.clock.now() - Math.max(removedAt, this.#processes.awakeSince(process) ?? 0, upSince);
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
