import { type Random, randomInteger } from '@sluice/runtime';
import type { JsonObject } from '@sluice/shadow';
import type { Request } from '../pair.ts';

/** One thing that a user, a kubelet or a scheduler does, to be sent to both API servers. */
export interface Step {
  /** For people: `pod shop-7/web-3 ready`. */
  readonly what: string;
  readonly requests: readonly Request[];
}

export interface WorldService {
  readonly name: string;
  readonly app: string;
  readonly selects: boolean;
  readonly external: boolean;
  readonly headless: boolean;
  readonly dual: boolean;
}

export interface WorldPod {
  readonly name: string;
  readonly app: string;
  readonly nodeName: string;
  readonly ips: readonly string[];
  readonly ready: boolean;
  readonly terminating: boolean;
  readonly finished: boolean;
}

export interface WorldNode {
  readonly name: string;
  readonly zone: string;
  readonly ready: boolean;
}

/**
 * What the workload has made so far, as far as it needs to know to go on. What a step is depends on this and on the
 * random numbers alone, so a seed repeats a workload.
 */
export class World {
  readonly namespace: string;
  readonly services = new Map<string, WorldService>();
  readonly pods = new Map<string, WorldPod>();
  readonly nodes = new Map<string, WorldNode>();
  /** Names of Endpoints that a user keeps. */
  readonly customEndpoints = new Set<string>();
  /** Names of slices that a user keeps. */
  readonly userSlices = new Set<string>();
  /**
   * Names that went in this round: the genuine controllers act on a deletion by name and after a while, so an object
   * that comes again too soon under the name may go as well.
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

  /** One of the values; undefined if there is none. */
  pick<T>(values: Iterable<T>): T | undefined {
    const all = [...values];
    return all[this.integer(0, all.length - 1)];
  }

  /** One of the values of a list that is not empty. */
  oneOf<T>(first: T, ...more: readonly T[]): T {
    return this.pick([first, ...more]) ?? first;
  }

  /** A number that no other object of this world has. */
  next(): number {
    return ++this.#count;
  }

  /** A time a second after the one before. */
  tick(): string {
    return new Date(Date.UTC(2026, 0, 1) + ++this.#seconds * 1_000).toISOString().replace('.000Z', 'Z');
  }

  /** Addresses of a new Pod: of one family, of both in either order, or none yet. */
  addresses(): readonly string[] {
    const n = this.next();
    const v4 = `10.${20 + Math.floor(n / 62_500)}.${Math.floor(n / 250) % 250}.${(n % 250) + 1}`;
    const v6 = `fd00:20::${n.toString(16)}`;
    return this.oneOf([v4], [v4], [v4], [v4, v6], [v4, v6], [v6, v4], [v6], []);
  }

  /** Endpoints of this name belong to a user: no Service with a selector writes them. */
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

export type StepMaker = (world: World) => Step | undefined;

/** Makers of steps with their weights; one that has nothing to do returns undefined, and another is asked. */
export type Repertoire = readonly (readonly [weight: number, make: StepMaker])[];

export function nextStep(world: World, repertoire: Repertoire): Step {
  const total = repertoire.reduce((sum, [weight]) => sum + weight, 0);
  for (;;) {
    let at = world.integer(0, total - 1);
    const chosen = repertoire.find(([weight]) => {
      at -= weight;
      return at < 0;
    });
    const made = chosen?.[1](world);
    if (made !== undefined) return made;
  }
}

export const mergeLabels = (labels: JsonObject): JsonObject => ({ metadata: { labels } });
