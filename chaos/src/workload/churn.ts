import {
  type ApiClient,
  deleteService,
  namespaceObject,
  nextStep,
  type Step,
  type StepMaker,
  toggleExternal,
  toggleSelector,
  Workload,
  weightedSteps,
} from '@sluice/conformance';
import { isApiError } from '@sluice/kubernetes';
import type { Random } from '@sluice/platform';
import type { FlipProbe, SteadyServices } from './steady-services.ts';

const namespace = 'shop';
/** Share of changes that flip steady Pods. The others are what users, kubelets and schedulers do. */
const flipShare = 0.6;
/** Maximum concurrent requests, so that a slow API server is not flooded. */
const maxInFlight = 16;

const ofService =
  (make: typeof deleteService): StepMaker =>
  (workload) => {
    const service = workload.pick(workload.services.values());
    return service && make(workload, service);
  };

/**
 * The differential workload plus what it does only after convergence, because nothing here depends on the previous
 * state.
 */
const everything = [
  ...weightedSteps,
  [2, ofService(deleteService)],
  [2, ofService(toggleSelector)],
  [1, ofService(toggleExternal)],
] as const;

/** Makes changes to Services, Pods, Nodes and custom Endpoints at a given rate. */
export class Churn {
  /** Requests that the API server accepted, and those that it rejected. */
  changes = 0;
  refused = 0;
  readonly #client: ApiClient;
  readonly #random: Random;
  readonly #steady: SteadyServices;
  readonly #measured: FlipProbe;
  readonly #workload: Workload;
  readonly #underWay = new Set<Promise<void>>();
  readonly #fail: (error: unknown) => void;
  /** Steps depend on each other, so their requests are sent one at a time. */
  #steps: Step['requests'][number][] = [];
  #stepping = false;
  #timer: NodeJS.Timeout | undefined;

  constructor(
    client: ApiClient,
    random: Random,
    steady: SteadyServices,
    measured: FlipProbe,
    fail: (error: unknown) => void,
  ) {
    this.#client = client;
    this.#random = random;
    this.#steady = steady;
    this.#measured = measured;
    this.#fail = fail;
    this.#workload = new Workload(namespace, random);
  }

  async create(): Promise<void> {
    await this.#client.create('namespaces', namespaceObject(namespace));
    for (let i = 0; i < 60; i++) await this.#step();
  }

  start(perSecond: number): void {
    let due = 0;
    let last = performance.now();
    this.#timer = setInterval(() => {
      const now = performance.now();
      // Changes missed while this process was blocked are not made up for in one burst.
      due = Math.min(due + ((now - last) * perSecond) / 1000, maxInFlight);
      last = now;
      for (; due >= 1; due--) this.#change();
    }, 10);
  }

  /** Returns when all requests in flight are complete. */
  async stop(): Promise<void> {
    clearInterval(this.#timer);
    while (this.#underWay.size > 0) await Promise.all(this.#underWay);
    // Names of deleted objects may be reused: the fleet has converged in between.
    this.#workload.justDeleted.clear();
  }

  #change(): void {
    if (this.#underWay.size >= maxInFlight) return;
    const flips = this.#stepping || this.#random.next() < flipShare;
    const task = (flips ? this.#flip() : this.#step()).catch(this.#fail).finally(() => this.#underWay.delete(task));
    this.#underWay.add(task);
  }

  async #flip(): Promise<void> {
    await this.#steady.flip(this.#measured);
    this.changes++;
  }

  async #step(): Promise<void> {
    this.#stepping = true;
    try {
      if (this.#steps.length === 0) this.#steps = [...nextStep(this.#workload, everything).requests];
      await this.#steps.shift()?.(this.#client, 'sluice');
      this.changes++;
    } catch (error) {
      if (!(isApiError(error) && error.status >= 400 && error.status < 500)) throw error;
      this.refused++;
    } finally {
      this.#stepping = false;
    }
  }
}
