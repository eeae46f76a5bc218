import type { Clock, Random } from '@sluice/platform';
import type { ClusterActivity } from './activity.ts';
import { ActivityGenerator } from './activity-generator.ts';
import { CustomEndpoints } from './custom-endpoints.ts';
import { Deployment } from './deployment.ts';
import { kubernetesService } from './kubernetes-service.ts';
import { Nodes } from './nodes.ts';
import { Pods, type SimulatedPod } from './pods.ts';
import { namespaces, type SampleObjects, sampleObjects, type WorkloadSpec } from './sample-objects.ts';
import { SimulationContext } from './simulation-context.ts';
import type { SimulatorApi } from './simulator-api.ts';
import { StatefulSet } from './stateful-set.ts';
import type { Workload } from './workload.ts';

export interface ClusterSimulatorOptions {
  readonly api: SimulatorApi;
  readonly clock: Clock;
  /** The same seed produces the same activity, unless a user changes the cluster. */
  readonly random: Random;
  /** Average activities per second, 5 by default; 0 disables activity. */
  readonly rate?: number;
  /** Default: those of all clusters that are up to date. */
  readonly objects?: SampleObjects;
}

const resyncIntervalMs = 1000;

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
  #listeners: readonly ((activity: ClusterActivity) => void)[] = [];

  constructor({ api, clock, random, rate = 5, objects = sampleObjects }: ClusterSimulatorOptions) {
    this.#objects = objects;
    this.#context = new SimulationContext(api, clock, random);
    this.#nodes = new Nodes(this.#context);
    this.#pods = new Pods(this.#context, this.#nodes, (pod) => this.#changed(pod));
    this.#endpoints = new CustomEndpoints(this.#context);
    this.#generator = new ActivityGenerator(this.#context, rate, {
      nodes: this.#nodes,
      pods: this.#pods,
      endpoints: this.#endpoints,
      workloads: () => [...this.#workloads.values()],
      addWorkload: (spec) => this.#add(spec),
      removeWorkload: (workload) => this.#workloads.delete(workload.spec),
    });
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
  }

  /** Starts no new scenarios; running ones complete. */
  pause(): void {
    this.#generator.stop();
  }

  /** Stops everything, including running scenarios. */
  stop(): void {
    this.#generator.stop();
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
