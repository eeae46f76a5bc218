import type { Clock, Random } from '@sluice/platform';
import type { ClusterActivity } from './activity.ts';
import { ActivityGenerator } from './activity-generator.ts';
import { CustomEndpoints } from './custom-endpoints.ts';
import { Deployment } from './deployment.ts';
import { kubernetesService } from './kubernetes-service.ts';
import { NodeFailures } from './node-failures.ts';
import { Nodes } from './nodes.ts';
import { Pods, type SimulatedPod } from './pods.ts';
import { namespaces, type SampleObjects, sampleObjects, type WorkloadSpec } from './sample-objects.ts';
import { SimulationContext } from './simulation-context.ts';
import type { SimulatorApi } from './simulator-api.ts';
import { StatefulSet } from './stateful-set.ts';
import { Story, storyServices } from './story.ts';
import type { Workload } from './workload.ts';

export interface ClusterSimulatorOptions {
  readonly api: SimulatorApi;
  readonly clock: Clock;
  /** The same seed produces the same activity, unless a user changes the cluster. */
  readonly random: Random;
  /**
   * `busy`: all kinds, at random. `quiet`: small ones now and then. `story`: the same, and a story that repeats. Default: busy.
   */
  readonly activity?: 'busy' | 'quiet' | 'story';
  /** Average random activities per second; 0 disables them. Default: 5 if busy, otherwise few. */
  readonly rate?: number;
  /** Default: those of all clusters that are up to date. */
  readonly objects?: SampleObjects;
}

const resyncIntervalMs = 1000;
const defaultRates = { busy: 5, quiet: 0.25, story: 0.25 };

/**
 * Simulates the users, controllers, scheduler and kubelets of a small cluster: Nodes in three zones, Services of all
 * kinds, and workloads that roll out, scale, fail and recover. It never writes what Sluice writes.
 */
export class ClusterSimulator {
  readonly #context: SimulationContext;
  readonly #objects: SampleObjects;
  readonly #nodes: Nodes;
  readonly #pods: Pods;
  readonly #endpoints: CustomEndpoints;
  readonly #workloads = new Map<WorkloadSpec, Workload>();
  readonly #generator: ActivityGenerator;
  readonly #story: Story | undefined;
  #listeners: readonly ((activity: ClusterActivity) => void)[] = [];

  constructor(options: ClusterSimulatorOptions) {
    const { api, clock, random, activity = 'busy', rate = defaultRates[activity], objects = sampleObjects } = options;
    this.#objects = objects;
    this.#context = new SimulationContext(api, clock, random);
    this.#nodes = new Nodes(this.#context);
    this.#pods = new Pods(this.#context, this.#nodes, (pod) => this.#changed(pod));
    this.#endpoints = new CustomEndpoints(this.#context);
    const nodeFailures = new NodeFailures(this.#context, this.#nodes, this.#pods);
    const isQuiet = activity !== 'busy';
    const targets = {
      nodeFailures,
      pods: this.#pods,
      endpoints: this.#endpoints,
      workloads: () => [...this.#workloads.values()].filter(({ spec }) => !(isQuiet && inStory.has(serviceOf(spec)))),
      addWorkload: (spec: WorkloadSpec) => this.#add(spec),
      removeWorkload: (workload: Workload) => this.#workloads.delete(workload.spec),
    };
    this.#generator = new ActivityGenerator(this.#context, rate, targets, isQuiet);
    if (activity !== 'story') return;
    this.#story = new Story(this.#context, {
      ...{ nodes: this.#nodes, nodeFailures, pods: this.#pods, converged: () => this.converged },
      workload: (service) => [...this.#workloads.values()].find(({ spec }) => serviceOf(spec) === service),
    });
  }

  /** For people: what happens now in the story. Empty without one. */
  get happening(): string {
    return this.#story?.happening ?? '';
  }

  /** Calls `listener` for every change after the initial objects are created. */
  onActivity(listener: (activity: ClusterActivity) => void): void {
    this.#listeners = [...this.#listeners, listener];
  }

  /** Creates the initial objects, with all Pods ready, and starts the activity. */
  start(): void {
    for (const name of namespaces) this.#context.attempt((api) => api.create('namespaces', { metadata: { name } }));
    this.#nodes.populate();
    for (const object of [...this.#objects.services, ...kubernetesService]) this.#create(object);
    this.#endpoints.populate();
    for (const spec of this.#objects.workloads) this.#add(spec).populate();
    this.#context.onActivity((activity) => {
      for (const listener of this.#listeners) listener(activity);
    });
    this.#resync();
    this.#generator.start();
    this.#story?.start();
  }

  /** Starts no new scenarios; running ones complete. */
  pause(): void {
    this.#generator.stop();
    this.#story?.stop();
  }

  /** Stops everything, including running scenarios. */
  stop(): void {
    this.pause();
    this.#context.close();
  }

  /** True if every workload has all its Pods ready at the current revision. */
  get converged(): boolean {
    return [...this.#workloads.values()].every((workload) => workload.converged);
  }

  #add(spec: WorkloadSpec): Workload {
    const Kind = spec.kind === 'StatefulSet' ? StatefulSet : Deployment;
    const workload = new Kind(this.#context, this.#pods, spec);
    this.#workloads.set(spec, workload);
    return workload;
  }

  #changed(pod: SimulatedPod): void {
    if (pod.workload !== undefined) this.#workloads.get(pod.workload)?.requeue();
  }

  #create(object: Readonly<Record<string, unknown>>): void {
    const kind = object.kind ?? 'Service';
    const resource = kind === 'EndpointSlice' ? 'endpointslices' : kind === 'Endpoints' ? 'endpoints' : 'services';
    this.#context.api.create(resource, object);
  }

  #resync(): void {
    this.#context.schedule(resyncIntervalMs, resyncIntervalMs, () => {
      this.#pods.sync(this.#context.api.list('pods').items);
      for (const workload of this.#workloads.values()) if (!workload.converged) workload.requeue();
      this.#resync();
    });
  }
}

const serviceOf = ({ namespace, service }: WorkloadSpec): string => `${namespace}/${service}`;

const inStory: ReadonlySet<string> = new Set(Object.values(storyServices));
