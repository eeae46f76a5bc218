import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { isApiError } from '@sluice/kubernetes';
import {
  type ControlPlane,
  kubectl,
  type ServerProcess,
  startControlPlane,
  startKubeControllerManager,
} from '@sluice/local';
import { seededRandom } from '@sluice/runtime';
import { isObject, type Json, type JsonObject, listAt, objectAt, textAt } from '@sluice/shadow';
import { ApiClient } from '../differential/api-client.ts';
import { namespaceObject } from '../differential/objects.ts';
import { SluiceProcess } from '../differential/sluice-process.ts';
import { touchEverything } from '../differential/touch-everything.ts';
import { createNode } from '../differential/workload/node-steps.ts';
import { nextStep, type Step, World } from '../differential/workload/world.ts';
import { churn } from './churn.ts';

export interface ShadowRunOptions {
  readonly seed: number;
  readonly seconds: number;
  /** Steps a second, over all worlds. */
  readonly rate: number;
  /** Between points of rest, at each of which the genuine controllers are made to look at everything once more. */
  readonly restEverySeconds: number;
  /** Namespaces, each with a workload of its own. */
  readonly worlds: number;
  /** `--shadow-grace-period` of Sluice. */
  readonly settle: string;
}

export interface ShadowRunResult {
  readonly steps: number;
  readonly refused: number;
  readonly restPoints: number;
  /** What was still different at a point of rest, after the genuine controllers had been made to look again. */
  readonly differencesAtRest: readonly JsonObject[];
  /** Differences by the rules that explain them; those that nothing explains under an empty text. */
  readonly differences: ReadonlyMap<string, readonly JsonObject[]>;
  /** Requests of Sluice by verb, as the API server has logged them. */
  readonly verbs: ReadonlyMap<string, number>;
  /** The last line of Sluice. */
  readonly report: JsonObject;
  readonly status: number;
}

/** The identity that infra/kubernetes/rbac.yaml grants things to. */
const sluiceUser = 'system:serviceaccount:sluice:sluice';

/** Sluice in the shadow of the genuine controllers, on a genuine API server on which a random workload goes on. */
export async function runInShadow(
  options: ShadowRunOptions,
  say: (line: string) => void = () => {},
): Promise<ShadowRunResult> {
  const directory = mkdtempSync(join(tmpdir(), 'sluice-shadow-'));
  const plane = await startControlPlane({
    ...{ name: 'shadowed', directory: join(directory, 'plane'), authorization: 'RBAC', audit: 'Metadata' },
  });
  let genuine: ServerProcess | undefined;
  try {
    // What is left is the watcher's: list, watch, and get of what it watches.
    await kubectl(plane.adminKubeconfig, ['delete', 'clusterrolebinding', 'sluice-writer']);
    genuine = await startKubeControllerManager(plane, { serviceAccountCredentials: true });
    return await new ShadowRun(plane, await ApiClient.open(plane.adminKubeconfig), options, say).run();
  } finally {
    await genuine?.stop();
    await plane.stop();
    rmSync(directory, { recursive: true, force: true });
  }
}

class ShadowRun {
  readonly #plane: ControlPlane;
  readonly #client: ApiClient;
  readonly #options: ShadowRunOptions;
  readonly #say: (line: string) => void;
  readonly #worlds: readonly World[];
  readonly #atRest: JsonObject[] = [];
  #steps = 0;
  #refused = 0;
  #rests = 0;
  /** Differences that were told. */
  #told = 0;

  constructor(plane: ControlPlane, client: ApiClient, options: ShadowRunOptions, say: (line: string) => void) {
    this.#plane = plane;
    this.#client = client;
    this.#options = options;
    this.#say = say;
    this.#worlds = Array.from({ length: options.worlds }, (_, i) => {
      const seed = options.seed + i;
      return new World(`shadow-${seed}`, seededRandom(seed));
    });
  }

  async run(): Promise<ShadowRunResult> {
    const { seconds, settle } = this.#options;
    for (const world of this.#worlds) {
      await this.#client.create('namespaces', namespaceObject(world.namespace));
      for (let i = 0; i < 3; i++) await this.#take(createNode(world));
    }
    const { sluice: kubeconfig } = this.#plane.kubeconfigs;
    const sluice = await SluiceProcess.start(kubeconfig, ['--shadow', '--shadow-grace-period', settle], 'started');
    try {
      const until = performance.now() + seconds * 1000;
      while (performance.now() < until) {
        await this.#churnUntil(Math.min(until, performance.now() + this.#options.restEverySeconds * 1000));
        await this.#rest(sluice);
      }
      const status = await sluice.stop();
      return this.#result(sluice, status);
    } finally {
      await sluice.kill();
      await this.#client.close();
    }
  }

  async #churnUntil(until: number): Promise<void> {
    const pauseMs = 1000 / this.#options.rate;
    for (let due = performance.now(); performance.now() < until; due += pauseMs) {
      const world = this.#worlds[this.#steps % this.#worlds.length];
      if (world !== undefined) await this.#take(nextStep(world, churn));
      await sleep(Math.max(0, due + pauseMs - performance.now()));
    }
  }

  async #take(step: Step | undefined): Promise<void> {
    if (step === undefined) return;
    this.#steps++;
    for (const request of step.requests) {
      try {
        await request(this.#client, 'genuine');
      } catch (error) {
        if (!isApiError(error) || error.status < 400 || error.status >= 500) throw error;
        this.#refused++;
      }
    }
  }

  /** What still differs after the genuine controllers have looked again, several times, is a difference for good. */
  async #rest(sluice: SluiceProcess): Promise<void> {
    this.#rests++;
    for (let attempt = 1; ; attempt++) {
      await sleep(2_000);
      await touchEverything(this.#client, `${this.#rests}-${attempt}`);
      const seen = sluice.events('status').length;
      // The next but one is of a time after the touch, and after what comes of it.
      await sluice.until(() => sluice.events('status').length >= seen + 2, 60_000, 'a status is told');
      const services = objectAt(sluice.events('status').at(-1), 'services');
      for (const difference of sluice.events('difference').slice(this.#told)) {
        this.#told++;
        this.#say(describe(difference));
      }
      const left = open(sluice.lines);
      if ((services.waiting !== 0 || left.length > 0) && attempt < 6) continue;
      this.#atRest.push(...left);
      this.#say(
        `point of rest ${this.#rests}: ${this.#steps} steps, ${services.total} Services, ${left.length} differences left, ` +
          `${sluice.events('difference').length} so far`,
      );
      break;
    }
    for (const world of this.#worlds) world.justDeleted.clear();
  }

  #result(sluice: SluiceProcess, status: number): ShadowRunResult {
    const differences = Map.groupBy(sluice.events('difference'), ({ explanation }) => textAt(explanation, 'rules'));
    return {
      ...{ steps: this.#steps, refused: this.#refused, restPoints: this.#rests, status },
      ...{ differencesAtRest: this.#atRest, differences, verbs: verbsIn(this.#plane.auditLog ?? '') },
      report: sluice.events('report').at(-1) ?? {},
    };
  }
}

/**
 * Differences that were told and have not been resolved, though the genuine controllers have been made to look once more.
 * Where they cannot write before a Node comes (E15), or where chance decides, no look helps.
 */
function open(lines: readonly JsonObject[]): readonly JsonObject[] {
  const left = new Map<string, JsonObject>();
  for (const line of lines) {
    const name = ['cluster', 'namespace', 'service', 'controller', 'since'].map((key) => textAt(line, key)).join(' ');
    if (line.event === 'difference') left.set(name, line);
    else if (line.event === 'resolved') left.delete(name);
  }
  return [...left.values()].filter(({ explanation }) => {
    const rules = textAt(explanation, 'rules');
    return rules === '' || rules.startsWith('C12');
  });
}

function verbsIn(auditLog: string): ReadonlyMap<string, number> {
  const verbs = new Map<string, number>();
  for (const text of readFileSync(auditLog, 'utf8').split('\n')) {
    if (!text.includes(sluiceUser)) continue;
    const entry: Json = JSON.parse(text);
    if (!isObject(entry) || textAt(entry.user, 'username') !== sluiceUser) continue;
    const verb = textAt(entry, 'verb');
    verbs.set(verb, (verbs.get(verb) ?? 0) + 1);
  }
  return verbs;
}

/** Lines of one difference, for people. */
export function describe(difference: JsonObject): string {
  const { resource, namespace, service, kind, controller } = difference;
  const causes = listAt(difference, 'causes').join('; ');
  const rules = textAt(difference.explanation, 'rules');
  return [
    `${resource} of ${namespace}/${service} (${kind}, ${controller})${rules === '' ? '' : `: ${rules}`}`,
    ...listAt(difference, 'lines').map((line) => `  ${line}`),
    `  because: ${causes}`,
  ].join('\n');
}
