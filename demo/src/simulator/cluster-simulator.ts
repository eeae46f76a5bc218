import type { Clock, Random } from '@sluice/runtime';
import type { ClusterActivity } from './activity.ts';
import { ActivityGenerator } from './activity-generator.ts';
import { CustomEndpoints } from './custom-endpoints.ts';
import { Deployment } from './deployment.ts';
import { kubernetesService } from './kubernetes-service.ts';
import { Nodes } from './nodes.ts';
import { Pods, type SimulatedPod } from './pods.ts';
import { namespaces, services, type WorkloadSpec, workloads } from './sample-objects.ts';
import { SimulationContext } from './simulation-context.ts';
import type { SimulatorApi } from './simulator-api.ts';
import { StatefulSet } from './stateful-set.ts';
import type { Workload } from './workload.ts';

export interface ClusterSimulatorOptions {
  readonly api: SimulatorApi;
  readonly clock: Clock;
  /** The same seed makes the same world, as long as nobody else changes the cluster. */
  readonly random: Random;
  /** Actions a second on average; 5 unless told. 0: the world stands still. */
  readonly rate?: number;
}

const observeEveryMs = 1000;

/**
 * A small cluster that lives: Nodes in three zones, workloads that roll, scale, fail and recover, and Services of all
 * kinds over them. It does what users, the scheduler and kubelets do, and nothing that Sluice does.
 */
export class ClusterSimulator {
  readonly #stage: SimulationContext;
  readonly #nodes: Nodes;
  readonly #pods: Pods;
  readonly #endpoints: CustomEndpoints;
  readonly #workloads = new Map<WorkloadSpec, Workload>();
  readonly #director: ActivityGenerator;
  #listeners: readonly ((action: ClusterActivity) => void)[] = [];

  constructor({ api, clock, random, rate = 5 }: ClusterSimulatorOptions) {
    this.#stage = new SimulationContext(api, clock, random);
    this.#nodes = new Nodes(this.#stage);
    this.#pods = new Pods(this.#stage, this.#nodes, (pod) => this.#changed(pod));
    this.#endpoints = new CustomEndpoints(this.#stage);
    this.#director = new ActivityGenerator(this.#stage, rate, {
      nodes: this.#nodes,
      pods: this.#pods,
      endpoints: this.#endpoints,
      workloads: () => [...this.#workloads.values()],
      addWorkload: (spec) => this.#add(spec),
      removeWorkload: (workload) => this.#workloads.delete(workload.spec),
    });
  }

  /** Told of every change that the world makes once it has started; the first population is not told. */
  onActivity(listener: (action: ClusterActivity) => void): void {
    this.#listeners = [...this.#listeners, listener];
  }

  /** Populates the cluster, everything running and ready, and lets it live. */
  start(): void {
    for (const name of namespaces) this.#stage.attempt((api) => api.create('namespaces', { metadata: { name } }));
    this.#nodes.populate();
    for (const object of [...services, ...kubernetesService]) this.#create(object);
    this.#endpoints.populate();
    for (const spec of workloads) this.#add(spec).populate();
    this.#stage.listen((action) => {
      for (const listener of this.#listeners) listener(action);
    });
    this.#observe();
    this.#director.start();
  }

  /** No new events; what is under way comes to its end. */
  pause(): void {
    this.#director.stop();
  }

  /** Nothing moves any more. */
  stop(): void {
    this.#director.stop();
    this.#stage.close();
  }

  /** Whether every workload is as it should be. */
  get converged(): boolean {
    return [...this.#workloads.values()].every((workload) => workload.converged);
  }

  #add(spec: WorkloadSpec): Workload {
    const Kind = spec.kind === 'StatefulSet' ? StatefulSet : Deployment;
    const workload = new Kind(this.#stage, this.#pods, spec);
    this.#workloads.set(spec, workload);
    return workload;
  }

  #changed(pod: SimulatedPod): void {
    if (pod.workload !== undefined) this.#workloads.get(pod.workload)?.requeue();
  }

  #create(object: Readonly<Record<string, unknown>>): void {
    const kind = object.kind ?? 'Service';
    const resource = kind === 'EndpointSlice' ? 'endpointslices' : kind === 'Endpoints' ? 'endpoints' : 'services';
    this.#stage.api.create(resource, object);
  }

  #observe(): void {
    this.#stage.later(observeEveryMs, observeEveryMs, () => {
      this.#pods.observe(this.#stage.api.list('pods').items);
      for (const workload of this.#workloads.values()) if (!workload.converged) workload.requeue();
      this.#observe();
    });
  }
}
