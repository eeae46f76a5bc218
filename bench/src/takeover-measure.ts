import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { type ControlPlane, type ServerProcess, startControlPlane } from '@sluice/local';
import { defaultPartitions, formatServiceKey, partitionOf } from '@sluice/messages';
import { type Random, seededRandom } from '@sluice/platform';
import { ApiClient } from './api-client.ts';
import { Convergence } from './convergence.ts';
import { EndpointWatches } from './endpoint-watches.ts';
import { Fleet, type Role } from './fleet.ts';
import { kubernetesTime, podStatusPath, populate } from './populate.ts';
import { type BenchPod, benchPods, benchServices, podObject, type Shape } from './shape.ts';
import { Shares } from './shares.ts';

export type Signal = 'SIGKILL' | 'SIGTERM';

export interface TakeoverOptions {
  readonly directory: string;
  readonly shape: Shape;
  /** Maximum number of Services whose Pods change during a take-over. */
  readonly probes: number;
  readonly repetitions: number;
  readonly timeoutSeconds: number;
  readonly seed: number;
}

/** One stopped process and its take-over. */
export interface Takeover {
  readonly role: Role;
  readonly signal: Signal;
  /** Number of partitions or clusters that moved. */
  readonly shares: number;
  /** Per changed Service: from the signal to the event that shows the change. */
  readonly milliseconds: readonly number[];
}

/** Delay after the signal, so that a process that shuts down cleanly no longer handles the changes. */
const GRACE_MILLISECONDS = 10;
const ROLES: readonly Role[] = ['watcher', 'reconciler', 'writer'];

/** A fleet with two processes per role on a real API server, one of which is stopped again and again. */
export class TakeoverTestbed {
  readonly #options: TakeoverOptions;
  readonly #controlPlane: ControlPlane;
  readonly #client: ApiClient;
  readonly #watches: EndpointWatches;
  readonly #fleet: Fleet;
  readonly #shares: Shares;
  readonly #cluster: string;
  readonly #random: Random;
  readonly #processes = new Map<Role, ServerProcess[]>();
  readonly #notReady = new Set<string>();

  private constructor(
    options: TakeoverOptions,
    controlPlane: ControlPlane,
    client: ApiClient,
    watches: EndpointWatches,
    fleet: Fleet,
    shares: Shares,
    cluster: string,
  ) {
    this.#options = options;
    this.#controlPlane = controlPlane;
    this.#client = client;
    this.#watches = watches;
    this.#fleet = fleet;
    this.#shares = shares;
    this.#cluster = cluster;
    this.#random = seededRandom(options.seed);
  }

  static async open(options: TakeoverOptions): Promise<TakeoverTestbed> {
    const directory = join(options.directory, 'cluster');
    const controlPlane = await startControlPlane({ directory, name: 'bench', authorization: 'AlwaysAllow' });
    const client = new ApiClient(controlPlane.adminKubeconfig);
    await populate(client, options.shape);
    const watches = await EndpointWatches.open(client, options.shape);
    const kubeconfig = controlPlane.kubeconfigs.sluice;
    const fleet = await Fleet.start({ directory: join(options.directory, 'fleet'), kubeconfig });
    const shares = await Shares.open(fleet.redis.url);
    const { metadata } = JSON.parse((await client.get('/api/v1/namespaces/kube-system')).body);
    const testbed = new TakeoverTestbed(options, controlPlane, client, watches, fleet, shares, metadata.uid);
    const convergence = new Convergence(options.shape);
    watches.listener = (event) => convergence.observe(event);
    for (const role of ROLES) testbed.#processes.set(role, [await fleet.run(role), await fleet.run(role)]);
    await testbed.#until(() => convergence.complete, 'all Services are complete');
    for (const role of ROLES) await testbed.#even(role);
    return testbed;
  }

  /** Stops a process, changes Pods of Services that it served, and waits until events show each change. */
  async takeOver(role: Role, signal: Signal): Promise<Takeover> {
    const processes = this.#processes.get(role) ?? [];
    const [victim, scopes] = await this.#choose(role, processes);
    const probes = this.#probes(role, new Set(scopes));
    // At a random moment between two heartbeats.
    await sleep(this.#random.next() * 1000);
    const shown = new Map<string, number>();
    this.#watches.listener = ({ from, pods }, at) => {
      if (from !== 'slice') return;
      for (const { name, ready } of pods) {
        if (probes.has(name) && ready === !this.#notReady.has(name) && !shown.has(name)) shown.set(name, at);
      }
    };
    const at = performance.now();
    victim.signal(signal);
    await sleep(GRACE_MILLISECONDS);
    await Promise.all([...probes.values()].map((pod) => this.#flip(pod)));
    await this.#until(() => shown.size === probes.size, `events for all changes after ${signal} of ${victim.name}`);
    await this.#until(() => !victim.running, `${victim.name} to exit`);
    const successor = await this.#fleet.run(role);
    this.#processes.set(role, [...processes.filter((process) => process !== victim), successor]);
    await this.#even(role);
    return { role, signal, shares: scopes.length, milliseconds: [...shown.values()].map((seen) => seen - at) };
  }

  async close(): Promise<void> {
    this.#watches.close();
    await this.#shares.close();
    await this.#fleet.stop();
    this.#client.close();
    await this.#controlPlane.stop();
  }

  /** A process that owns something; only one of a cluster's watchers does. */
  async #choose(role: Role, processes: readonly ServerProcess[]): Promise<[ServerProcess, readonly string[]]> {
    const inTurn = this.#random.next() < 0.5 ? processes : processes.toReversed();
    let chosen: [ServerProcess, readonly string[]] | undefined;
    // What a new process takes over has no owner for a moment.
    await this.#until(async () => {
      for (const process of inTurn) {
        const held = await this.#shares.heldBy(role, process);
        chosen ??= held.length > 0 ? [process, held] : undefined;
      }
      return chosen !== undefined;
    }, `a ${role} to own something`);
    if (chosen === undefined) throw new Error(`no ${role} owns anything`);
    return chosen;
  }

  /** One Pod of some affected Services, each in another partition, by name. */
  #probes(role: Role, scopes: ReadonlySet<string>): ReadonlyMap<string, BenchPod> {
    const { shape, probes } = this.#options;
    const byPartition = Map.groupBy(benchServices(shape), ({ namespace, name: service }) => {
      return String(partitionOf(formatServiceKey({ cluster: this.#cluster, namespace, service }), defaultPartitions));
    });
    const affected = [...byPartition].filter(([partition]) => role === 'watcher' || scopes.has(partition));
    const services = new Set(this.#some(affected, probes).map(([, [service]]) => service?.name ?? ''));
    const pods = Map.groupBy(benchPods(shape), ({ service }) => service);
    return new Map(
      [...services].flatMap((service) => this.#some(pods.get(service) ?? [], 1).map((pod) => [pod.name, pod] as const)),
    );
  }

  #some<T>(items: readonly T[], count: number): readonly T[] {
    const shuffled = items.map((item) => ({ item, place: this.#random.next() })).sort((a, b) => a.place - b.place);
    return shuffled.slice(0, count).map(({ item }) => item);
  }

  async #flip(pod: BenchPod): Promise<void> {
    const ready = this.#notReady.delete(pod.name);
    if (!ready) this.#notReady.add(pod.name);
    await this.#client.put(podStatusPath(pod), podObject(pod, ready, kubernetesTime(Date.now())));
  }

  async #even(role: Role): Promise<void> {
    const scopes = role === 'watcher' ? 1 : defaultPartitions;
    const even = () => this.#shares.areEven(role, this.#processes.get(role) ?? [], scopes);
    await this.#until(even, `an even distribution over the ${role}s`);
  }

  /** @throws Error on timeout, or if the measurement failed */
  async #until(reached: () => boolean | Promise<boolean>, what: string): Promise<void> {
    const deadline = performance.now() + this.#options.timeoutSeconds * 1000;
    while (!(await reached())) {
      this.#watches.check();
      if (performance.now() > deadline) throw new Error(`timed out waiting for ${what}`);
      await sleep(20);
    }
  }
}
