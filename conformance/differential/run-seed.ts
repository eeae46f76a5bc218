import { join } from 'node:path';
import { seededRandom } from '@sluice/platform';
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
import type { Comparison, Pair } from './pair.ts';
import { type ConvergedStep, convergedStep } from './workload/converged-steps.ts';
import { createNode } from './workload/node-steps.ts';
import { weightedSteps } from './workload/weighted-steps.ts';
import { nextStep, type Step, Workload } from './workload/workload.ts';

export interface SeedOptions {
  readonly seed: number;
  readonly steps: number;
  readonly checkpoints: number;
  /** Default: the seed chooses 100, 10 or 3. */
  readonly maxEndpointsPerSlice?: number;
  readonly convergeLimitMs?: number;
  /** Directory for states and logs of both sides if they differ, one folder per seed. Default: none. */
  readonly evidence?: string;
}

export interface SeedResult {
  readonly seed: number;
  readonly maxEndpointsPerSlice: number;
  readonly steps: number;
  /** Steps that both API servers rejected. */
  readonly refused: number;
  readonly checkpoints: number;
  /** How often Sluice was killed and both sides were restarted. */
  readonly restarts: number;
  /** Slices compared at all checkpoints. */
  readonly compared: number;
  /** Number of explained differences by rules, at all checkpoints. */
  readonly explained: ReadonlyMap<string, number>;
  /** Unexplained differences. The run of a seed stops at the first checkpoint with any. */
  readonly differences: readonly string[];
  readonly ranMs: number;
}

/** Every third round consists of steps that require convergence. */
const convergedRoundEvery = 3;
const maxConvergedSteps = 4;
/** Quiet period of a round without slice edits, in which upstream delays nothing. */
const uneditedQuietMs = 600;
/** Number of last steps shown with a difference. */
const recentStepsShown = 40;

/**
 * Runs one random workload on both sides and compares them at each checkpoint, with new controllers and a new
 * namespace.
 */
export async function runSeed(
  pair: Pair,
  options: SeedOptions,
  progress: (line: string) => void = () => {},
): Promise<SeedResult> {
  const run = new SeedRun(pair, options, progress);
  try {
    return await run.run();
  } finally {
    await pair.stopUpstream();
    await pair.stopSluice();
    await run.cleanUp();
  }
}

class SeedRun {
  readonly #pair: Pair;
  readonly #options: SeedOptions;
  readonly #progress: (line: string) => void;
  readonly #workload: Workload;
  readonly #max: number;
  readonly #recentSteps: string[] = [];
  readonly #explained = new Map<string, number>();
  readonly #onceAuto = new Set<string>();
  #taken = 0;
  #refused = 0;
  #checkpoints = 0;
  #restarts = 0;
  #compared = 0;

  constructor(pair: Pair, options: SeedOptions, progress: (line: string) => void) {
    this.#pair = pair;
    this.#options = options;
    this.#progress = progress;
    this.#workload = new Workload(`seed-${options.seed}`, seededRandom(options.seed));
    this.#max = options.maxEndpointsPerSlice ?? this.#workload.oneOf(100, 10, 3);
  }

  async run(): Promise<SeedResult> {
    const started = performance.now();
    const { seed, steps, checkpoints } = this.#options;
    await this.#start();
    await this.#pair.apply((client) => client.create('namespaces', namespaceObject(this.#workload.namespace)));
    for (let i = 0; i < 4; i++) await this.#take(createNode(this.#workload) ?? []);
    let differences: readonly string[] = [];
    let last: Comparison | undefined;
    while (this.#checkpoints < checkpoints && differences.length === 0) {
      this.#workload.justDeleted.clear();
      const left = checkpoints - this.#checkpoints;
      const wanted = left === 1 ? steps - this.#taken : Math.round((steps - this.#taken) / left);
      const converged =
        this.#checkpoints % convergedRoundEvery === convergedRoundEvery - 1 && last !== undefined && left > 1;
      const needsRestart = converged && last ? await this.#convergedRound(last) : await this.#busyRound(wanted);
      last = await this.#compare(converged, needsRestart);
      differences = last.differences.map((difference) => this.#describe(difference));
      if (differences.length > 0 && this.#options.evidence !== undefined)
        await this.#pair.keepEvidence(join(this.#options.evidence, `seed-${seed}`), last);
      this.#progress(
        `seed ${seed}: ${this.#taken}/${steps} steps, ${this.#checkpoints}/${checkpoints} checkpoints, ` +
          `${differences.length} differences`,
      );
    }
    return {
      seed,
      maxEndpointsPerSlice: this.#max,
      steps: this.#taken,
      refused: this.#refused,
      checkpoints: this.#checkpoints,
      restarts: this.#restarts,
      compared: this.#compared,
      explained: this.#explained,
      differences,
      ranMs: performance.now() - started,
    };
  }

  /** Deletes the objects of the workload. */
  async cleanUp(): Promise<void> {
    const { namespace } = this.#workload;
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
    await this.#pair.startUpstream(settings);
    await this.#pair.startSluice(settings);
  }

  async #busyRound(count: number): Promise<boolean> {
    const crashAt = this.#workload.chance(0.12) ? this.#workload.integer(1, count) : 0;
    for (let i = 1; i <= count; i++) {
      if (i === crashAt) {
        this.#note('sluice killed, both sides restarted');
        await this.#pair.killSluice();
        await this.#restartBoth();
      }
      await this.#take(nextStep(this.#workload, weightedSteps));
    }
    return false;
  }

  async #convergedRound(last: Comparison): Promise<boolean> {
    const steps: ConvergedStep[] = [];
    const taken = new Set<string>();
    for (let i = this.#workload.integer(1, maxConvergedSteps); i > 0; i--) {
      const made = convergedStep(this.#workload, last, taken);
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
        this.#note(`  rejected: ${refused}`);
        this.#refused++;
      }
    }
  }

  /** At startup both sides delete Endpoints without a Service (D4), so both must restart. */
  async #restartBoth(): Promise<void> {
    this.#restarts++;
    await this.#start();
    for (const name of this.#workload.customEndpoints) {
      if (this.#workload.services.has(name)) continue;
      this.#workload.customEndpoints.delete(name);
      this.#workload.justDeleted.add(name);
    }
  }

  async #compare(edited: boolean, needsRestart: boolean): Promise<Comparison> {
    if (needsRestart) {
      // Sluice must converge without a restart; it restarts only afterwards.
      await this.#pair.startUpstream({ maxEndpointsPerSlice: this.#max });
      const early = await this.#converge(true);
      if (early.differences.length > 0) return this.#counted(early);
      this.#note('both sides restarted');
      await this.#restartBoth();
    }
    return this.#counted(await this.#converge(false, edited ? undefined : uneditedQuietMs));
  }

  #converge(onlyUpstreamSwept: boolean, quietMs?: number): Promise<Comparison> {
    return this.#pair.converge({
      userSlices: this.#workload.userSlices,
      ...(quietMs !== undefined && { quietMs }),
      ...(this.#options.convergeLimitMs !== undefined && { limitMs: this.#options.convergeLimitMs }),
      isExplained: (difference, state, stuckMirrors) =>
        explain(difference, this.#context(state, stuckMirrors)) !== undefined ||
        (onlyUpstreamSwept && difference.resource === 'endpoints' && difference.upstream.length === 0),
    });
  }

  #counted(rest: Comparison): Comparison {
    this.#checkpoints++;
    this.#note(`— checkpoint ${this.#checkpoints}`);
    this.#compared += rest.upstream.endpointslices.length;
    for (const difference of rest.explained) {
      const rules = explain(difference, this.#context(rest.upstream, rest.stuckMirrors))?.rules ?? 'D4';
      this.#explained.set(rules, (this.#explained.get(rules) ?? 0) + 1);
    }
    for (const name of autoServices(rest.upstream)) this.#onceAuto.add(name);
    return rest;
  }

  #context(state: ExplainContext['state'], stuckMirrors: ReadonlySet<string>): ExplainContext {
    return { state, stuckMirrors, maxEndpointsPerSlice: this.#max, onceAuto: this.#onceAuto };
  }

  #note(what: string): void {
    this.#recentSteps.push(`${this.#taken}. ${what}`);
    if (this.#recentSteps.length > recentStepsShown) this.#recentSteps.shift();
  }

  #describe(difference: Comparison['differences'][number]): string {
    const list = (objects: readonly JsonObject[]) => objects.map((object) => `    ${canonical(object)}`).join('\n');
    return [
      `seed ${this.#options.seed}, step ${this.#taken}, checkpoint ${this.#checkpoints}`,
      describeDifference(difference),
      `  upstream:\n${list(difference.upstream) || '    none'}`,
      `  Sluice:\n${list(difference.sluice) || '    none'}`,
      `  last steps:\n${this.#recentSteps.map((line) => `    ${line}`).join('\n')}`,
    ].join('\n');
  }
}
