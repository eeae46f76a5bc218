import { join } from 'node:path';
import { seededRandom } from '@sluice/runtime';
import {
  autoServices,
  canonical,
  describeDifference,
  type ExplainContext,
  explain,
  type JsonObject,
  textAt,
} from '@sluice/shadow';
import { namespaceObject } from './objects.ts';
import type { Pair, Rest } from './pair.ts';
import { type FreezingStep, freezingStep } from './workload/freezing-steps.ts';
import { createNode } from './workload/node-steps.ts';
import { repertoire } from './workload/repertoire.ts';
import { nextStep, type Step, World } from './workload/world.ts';

export interface SeedOptions {
  readonly seed: number;
  readonly steps: number;
  readonly restPoints: number;
  /** Left out: the seed chooses between the default, 10 and 3. */
  readonly maxEndpointsPerSlice?: number;
  readonly restLimitMs?: number;
  /** Directory for what may tell why both sides differ, in a folder for the seed. Left out: nothing is kept. */
  readonly evidence?: string;
}

export interface SeedResult {
  readonly seed: number;
  readonly maxEndpointsPerSlice: number;
  readonly steps: number;
  /** Steps that both API servers refused. */
  readonly refused: number;
  readonly restPoints: number;
  /** How often Sluice was killed and both were started anew. */
  readonly restarts: number;
  /** Slices compared, over all points of rest. */
  readonly compared: number;
  /** Explained differences by rules, over all points of rest. */
  readonly explained: ReadonlyMap<string, number>;
  /** Empty if all is well. The run of the seed ends at the first. */
  readonly differences: readonly string[];
  readonly ranMs: number;
}

/** Every third round consists of steps that are only taken at rest. */
const freezeEvery = 3;
const mostFreezingSteps = 4;
/** So long both have to be quiet where no slice was edited: then the genuine side delays nothing. */
const unedited = 600;
/** Steps told with a difference. */
const toldSteps = 40;

/** One random workload on both sides, compared at each point of rest. Fresh controllers and a namespace of its own. */
export async function runSeed(
  pair: Pair,
  options: SeedOptions,
  progress: (line: string) => void = () => {},
): Promise<SeedResult> {
  const run = new SeedRun(pair, options, progress);
  try {
    return await run.run();
  } finally {
    await pair.stopGenuine();
    await pair.stopSluice();
    await run.cleanUp();
  }
}

class SeedRun {
  readonly #pair: Pair;
  readonly #options: SeedOptions;
  readonly #progress: (line: string) => void;
  readonly #world: World;
  readonly #max: number;
  readonly #told: string[] = [];
  readonly #explained = new Map<string, number>();
  readonly #onceAuto = new Set<string>();
  #taken = 0;
  #refused = 0;
  #rests = 0;
  #restarts = 0;
  #compared = 0;

  constructor(pair: Pair, options: SeedOptions, progress: (line: string) => void) {
    this.#pair = pair;
    this.#options = options;
    this.#progress = progress;
    this.#world = new World(`seed-${options.seed}`, seededRandom(options.seed));
    this.#max = options.maxEndpointsPerSlice ?? this.#world.oneOf(100, 10, 3);
  }

  async run(): Promise<SeedResult> {
    const started = performance.now();
    const { seed, steps, restPoints } = this.#options;
    await this.#start();
    await this.#pair.apply((client) => client.create('namespaces', namespaceObject(this.#world.namespace)));
    for (let i = 0; i < 4; i++) await this.#take(createNode(this.#world) ?? []);
    let differences: readonly string[] = [];
    let last: Rest | undefined;
    while (this.#rests < restPoints && differences.length === 0) {
      this.#world.justDeleted.clear();
      const left = restPoints - this.#rests;
      const wanted = left === 1 ? steps - this.#taken : Math.round((steps - this.#taken) / left);
      const freezing = this.#rests % freezeEvery === freezeEvery - 1 && last !== undefined && left > 1;
      const needsRestart = freezing && last ? await this.#freezingRound(last) : await this.#busyRound(wanted);
      last = await this.#rest(freezing, needsRestart);
      differences = last.differences.map((difference) => this.#tell(difference));
      if (differences.length > 0 && this.#options.evidence !== undefined)
        await this.#pair.keepEvidence(join(this.#options.evidence, `seed-${seed}`), last);
      this.#progress(
        `seed ${seed}: ${this.#taken}/${steps} steps, ${this.#rests}/${restPoints} points of rest, ` +
          `${differences.length} differences`,
      );
    }
    return {
      seed,
      maxEndpointsPerSlice: this.#max,
      steps: this.#taken,
      refused: this.#refused,
      restPoints: this.#rests,
      restarts: this.#restarts,
      compared: this.#compared,
      explained: this.#explained,
      differences,
      ranMs: performance.now() - started,
    };
  }

  /** Deletes what the workload made, so that the next one starts from nothing. */
  async cleanUp(): Promise<void> {
    const { namespace } = this.#world;
    await this.#pair.apply(async (client) => {
      for (const resource of ['services', 'pods', 'endpoints', 'endpointslices', 'nodes'] as const) {
        for (const { metadata } of await client.list(resource)) {
          const name = textAt(metadata, 'name');
          if (resource === 'nodes') await client.delete({ resource, name });
          else if (textAt(metadata, 'namespace') === namespace) await client.delete({ resource, namespace, name });
        }
      }
    });
  }

  async #start(): Promise<void> {
    const settings = { maxEndpointsPerSlice: this.#max };
    await this.#pair.startGenuine(settings);
    await this.#pair.startSluice(settings);
  }

  async #busyRound(count: number): Promise<boolean> {
    const crashAt = this.#world.chance(0.12) ? this.#world.integer(1, count) : 0;
    for (let i = 1; i <= count; i++) {
      if (i === crashAt) {
        this.#note('sluice killed, both started anew');
        await this.#pair.killSluice();
        await this.#startAnew();
      }
      await this.#take(nextStep(this.#world, repertoire));
    }
    return false;
  }

  async #freezingRound(last: Rest): Promise<boolean> {
    const steps: FreezingStep[] = [];
    const taken = new Set<string>();
    for (let i = this.#world.integer(1, mostFreezingSteps); i > 0; i--) {
      const made = freezingStep(this.#world, last, taken);
      if (made === undefined) continue;
      steps.push(made);
      taken.add(made.service);
      if (made.otherService !== undefined) taken.add(made.otherService);
    }
    for (const each of steps) await this.#take(each);
    return steps.some(({ needsRestart }) => needsRestart);
  }

  async #take(steps: Step | readonly Step[]): Promise<void> {
    for (const each of Array.isArray(steps) ? (steps as readonly Step[]) : [steps as Step]) {
      this.#taken++;
      this.#note(each.what);
      for (const request of each.requests) {
        const refused = await this.#pair.both(request);
        if (refused === '') continue;
        this.#note(`  refused: ${refused}`);
        this.#refused++;
      }
    }
  }

  /** Both sweep Endpoints without a Service away when they start (D4), so both have to. */
  async #startAnew(): Promise<void> {
    this.#restarts++;
    await this.#start();
    for (const name of this.#world.customEndpoints) {
      if (this.#world.services.has(name)) continue;
      this.#world.customEndpoints.delete(name);
      this.#world.justDeleted.add(name);
    }
  }

  async #rest(edited: boolean, needsRestart: boolean): Promise<Rest> {
    if (needsRestart) {
      // Sluice needs no restart to be right; only then it is started anew as well.
      await this.#pair.startGenuine({ maxEndpointsPerSlice: this.#max });
      const early = await this.#agree(true);
      if (early.differences.length > 0) return this.#counted(early);
      this.#note('both started anew');
      await this.#startAnew();
    }
    return this.#counted(await this.#agree(false, edited ? undefined : unedited));
  }

  #agree(onlyGenuineSwept: boolean, quietMs?: number): Promise<Rest> {
    return this.#pair.rest({
      userSlices: this.#world.userSlices,
      ...(quietMs !== undefined && { quietMs }),
      ...(this.#options.restLimitMs !== undefined && { limitMs: this.#options.restLimitMs }),
      isExplained: (difference, state, stuckMirrors) =>
        explain(difference, this.#context(state, stuckMirrors)) !== undefined ||
        (onlyGenuineSwept && difference.resource === 'endpoints' && difference.genuine.length === 0),
    });
  }

  #counted(rest: Rest): Rest {
    this.#rests++;
    this.#note(`— point of rest ${this.#rests}`);
    this.#compared += rest.genuine.endpointslices.length;
    for (const difference of rest.explained) {
      const rules = explain(difference, this.#context(rest.genuine, rest.stuckMirrors))?.rules ?? 'D4';
      this.#explained.set(rules, (this.#explained.get(rules) ?? 0) + 1);
    }
    for (const name of autoServices(rest.genuine)) this.#onceAuto.add(name);
    return rest;
  }

  #context(state: ExplainContext['state'], stuckMirrors: ReadonlySet<string>): ExplainContext {
    return { state, stuckMirrors, maxEndpointsPerSlice: this.#max, onceAuto: this.#onceAuto };
  }

  #note(what: string): void {
    this.#told.push(`${this.#taken}. ${what}`);
    if (this.#told.length > toldSteps) this.#told.shift();
  }

  #tell(difference: Rest['differences'][number]): string {
    const list = (objects: readonly JsonObject[]) => objects.map((object) => `    ${canonical(object)}`).join('\n');
    return [
      `seed ${this.#options.seed}, step ${this.#taken}, point of rest ${this.#rests}`,
      describeDifference(difference),
      `  genuine:\n${list(difference.genuine) || '    none'}`,
      `  Sluice:\n${list(difference.sluice) || '    none'}`,
      `  the last steps:\n${this.#told.map((line) => `    ${line}`).join('\n')}`,
    ].join('\n');
  }
}
