import { type Random, randomInteger } from '@sluice/platform';
import type { JsonObject } from '@sluice/shadow';
import type { Request } from '../pair.ts';

/** An action of a user, a kubelet or a scheduler, applied to both clusters. */
export interface Step {
  /** For people: `pod shop-7/web-3 ready`. */
  readonly what: string;
  readonly requests: readonly Request[];
}

export interface WorkloadService {
  readonly name: string;
  readonly app: string;
  readonly selects: boolean;
  readonly external: boolean;
  readonly headless: boolean;
  readonly dual: boolean;
}

export interface WorkloadPod {
  readonly name: string;
  readonly app: string;
  readonly nodeName: string;
  readonly ips: readonly string[];
  readonly ready: boolean;
  readonly terminating: boolean;
  readonly finished: boolean;
}

export interface WorkloadNode {
  readonly name: string;
  readonly zone: string;
  readonly ready: boolean;
}

/**
 * The objects that the workload has created, as far as later steps depend on them. Steps depend only on this state and
 * the random numbers, so a seed reproduces a workload.
 */
export class Workload {
  readonly namespace: string;
  readonly services = new Map<string, WorkloadService>();
  readonly pods = new Map<string, WorkloadPod>();
  readonly nodes = new Map<string, WorkloadNode>();
  /** Names of user-managed Endpoints. */
  readonly customEndpoints = new Set<string>();
  /** Names of user-managed slices. */
  readonly userSlices = new Set<string>();
  /**
   * Names deleted in this round. Upstream handles deletions by name with a delay, so it might also delete an object
   * that is created again too soon.
   */
  readonly justDeleted = new Set<string>();
  readonly #random: Random;
  #count = 0;
  #seconds = 0;

  constructor(namespace: string, random: Random) {
    this.namespace = namespace;
    this.#random = random;
  }

  chance(probability: number): boolean {
    return this.#random.next() < probability;
  }

  integer(from: number, to: number): number {
    return randomInteger(this.#random, from, to);
  }

  /** A random value; undefined if there is none. */
  pick<T>(values: Iterable<T>): T | undefined {
    const all = [...values];
    return all[this.integer(0, all.length - 1)];
  }

  /** A random value of a non-empty list. */
  oneOf<T>(first: T, ...more: readonly T[]): T {
    return this.pick([first, ...more]) ?? first;
  }

  /** A number that is unique in this workload. */
  next(): number {
    return ++this.#count;
  }

  /** A timestamp one second after the previous one. */
  tick(): string {
    return new Date(Date.UTC(2026, 0, 1) + ++this.#seconds * 1_000).toISOString().replace('.000Z', 'Z');
  }

  /** Addresses of a new Pod: single-stack, dual-stack in either order, or none yet. */
  addresses(): readonly string[] {
    const n = this.next();
    const v4 = `10.${20 + Math.floor(n / 62_500)}.${Math.floor(n / 250) % 250}.${(n % 250) + 1}`;
    const v6 = `fd00:20::${n.toString(16)}`;
    return this.oneOf([v4], [v4], [v4], [v4, v6], [v4, v6], [v6, v4], [v6], []);
  }

  /** Whether users manage the Endpoints of this name: no Service with a selector does. */
  isCustom(name: string): boolean {
    const service = this.services.get(name);
    return service === undefined || !service.selects || service.external;
  }
}

export const apps = ['red', 'green', 'blue', 'grey'] as const;
export const zones = ['a', 'b', 'c', ''] as const;

export function step(what: string, ...requests: readonly Request[]): Step {
  return { what, requests };
}

export type StepMaker = (workload: Workload) => Step | undefined;

/**
 * Step makers with their weights. A maker returns undefined if its step is not possible; another one is chosen then.
 */
export type WeightedSteps = readonly (readonly [weight: number, make: StepMaker])[];

export function nextStep(workload: Workload, choices: WeightedSteps): Step {
  const total = choices.reduce((sum, [weight]) => sum + weight, 0);
  for (;;) {
    let at = workload.integer(0, total - 1);
    const chosen = choices.find(([weight]) => {
      at -= weight;
      return at < 0;
    });
    const made = chosen?.[1](workload);
    if (made !== undefined) return made;
  }
}

export const mergeLabels = (labels: JsonObject): JsonObject => ({ metadata: { labels } });
