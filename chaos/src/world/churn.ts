import type { ApiClient } from '@sluice/conformance';
import {
  deleteService,
  namespaceObject,
  nextStep,
  repertoire,
  type Step,
  type StepMaker,
  toggleExternal,
  toggleSelector,
  World,
} from '@sluice/conformance';
import { isApiError } from '@sluice/kubernetes';
import type { Random } from '@sluice/runtime';
import type { Measured, SteadyServices } from './steady-services.ts';

const namespace = 'shop';
/** Of all changes, these are flips of steady Pods; the others do all that users, kubelets and schedulers do. */
const flipShare = 0.6;
/** Requests under way at once: an API server that is behind gets no more. */
const mostUnderWay = 16;

const ofService =
  (make: typeof deleteService): StepMaker =>
  (world) => {
    const service = world.pick(world.services.values());
    return service && make(world, service);
  };

/** All of the differential workload, and what it does at rest only: nothing here depends on what was before. */
const everything = [
  ...repertoire,
  [2, ofService(deleteService)],
  [2, ofService(toggleSelector)],
  [1, ofService(toggleExternal)],
] as const;

/** So many changes a second of Services, Pods, Nodes and custom Endpoints. */
export class Churn {
  /** Requests that the API server took, and those that it refused, as it may. */
  changes = 0;
  refused = 0;
  readonly #client: ApiClient;
  readonly #random: Random;
  readonly #steady: SteadyServices;
  readonly #measured: Measured;
  readonly #world: World;
  readonly #underWay = new Set<Promise<void>>();
  readonly #fail: (error: unknown) => void;
  /** Steps build on each other, so their requests go one after the other. */
  #steps: Step['requests'][number][] = [];
  #stepping = false;
  #timer: NodeJS.Timeout | undefined;

  constructor(
    client: ApiClient,
    random: Random,
    steady: SteadyServices,
    measured: Measured,
    fail: (error: unknown) => void,
  ) {
    this.#client = client;
    this.#random = random;
    this.#steady = steady;
    this.#measured = measured;
    this.#fail = fail;
    this.#world = new World(namespace, random);
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
      // What a hold-up of this process kept from being made is not made up for in one burst.
      due = Math.min(due + ((now - last) * perSecond) / 1000, mostUnderWay);
      last = now;
      for (; due >= 1; due--) this.#change();
    }, 10);
  }

  /** Returns once all that is under way has been answered. */
  async stop(): Promise<void> {
    clearInterval(this.#timer);
    while (this.#underWay.size > 0) await Promise.all(this.#underWay);
    // Names that were deleted before may come again: the fleet has come to rest in between.
    this.#world.justDeleted.clear();
  }

  #change(): void {
    if (this.#underWay.size >= mostUnderWay) return;
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
      if (this.#steps.length === 0) this.#steps = [...nextStep(this.#world, everything).requests];
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
