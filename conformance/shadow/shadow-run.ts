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
import { seededRandom } from '@sluice/platform';
import { isObject, type Json, type JsonObject, listAt, objectAt, textAt } from '@sluice/shadow';
import { ApiClient } from '../differential/api-client.ts';
import { namespaceObject } from '../differential/objects.ts';
import { SluiceProcess } from '../differential/sluice-process.ts';
import { touchAllObjects } from '../differential/touch-all-objects.ts';
import { createNode } from '../differential/workload/node-steps.ts';
import { nextStep, type Step, Workload } from '../differential/workload/workload.ts';
import { churn } from './churn.ts';

export interface ShadowRunOptions {
  readonly seed: number;
  readonly seconds: number;
  /** Steps per second in all namespaces. */
  readonly rate: number;
  /** Interval of checkpoints, at which the upstream controllers are made to sync everything. */
  readonly checkpointEverySeconds: number;
  /** Number of namespaces, each with its own workload. */
  readonly namespaces: number;
  /** `--shadow-grace-period` of Sluice. */
  readonly gracePeriod: string;
}

export interface ShadowRunResult {
  readonly steps: number;
  readonly refused: number;
  readonly checkpoints: number;
  /** Differences left at checkpoints, after the upstream controllers have synced everything. */
  readonly remainingDifferences: readonly JsonObject[];
  /** Differences by the rules that explain them; unexplained ones under an empty key. */
  readonly differences: ReadonlyMap<string, readonly JsonObject[]>;
  /** Sluice's requests by verb, according to the audit log. */
  readonly verbs: ReadonlyMap<string, number>;
  /** Sluice's final report. */
  readonly report: JsonObject;
  readonly status: number;
}

/** The identity that infra/kubernetes/rbac.yaml grants permissions to. */
const sluiceUser = 'system:serviceaccount:sluice:sluice';

/** Runs Sluice in shadow mode beside the upstream controllers on a real API server under a random workload. */
export async function runInShadow(
  options: ShadowRunOptions,
  say: (line: string) => void = () => {},
): Promise<ShadowRunResult> {
  const directory = mkdtempSync(join(tmpdir(), 'sluice-shadow-'));
  const plane = await startControlPlane({
    ...{ name: 'shadowed', directory: join(directory, 'plane'), authorization: 'RBAC', audit: 'Metadata' },
  });
  let upstream: ServerProcess | undefined;
  try {
    // Leaves the permissions of the watcher: get, list and watch.
    await kubectl(plane.adminKubeconfig, ['delete', 'clusterrolebinding', 'sluice-writer']);
    upstream = await startKubeControllerManager(plane, { serviceAccountCredentials: true });
    return await new ShadowRun(plane, await ApiClient.open(plane.adminKubeconfig), options, say).run();
  } finally {
    await upstream?.stop();
    await plane.stop();
    rmSync(directory, { recursive: true, force: true });
  }
}

class ShadowRun {
  readonly #plane: ControlPlane;
  readonly #client: ApiClient;
  readonly #options: ShadowRunOptions;
  readonly #say: (line: string) => void;
  readonly #workloads: readonly Workload[];
  readonly #remaining: JsonObject[] = [];
  #steps = 0;
  #refused = 0;
  #checkpoints = 0;
  /** Number of differences already logged. */
  #logged = 0;

  constructor(plane: ControlPlane, client: ApiClient, options: ShadowRunOptions, say: (line: string) => void) {
    this.#plane = plane;
    this.#client = client;
    this.#options = options;
    this.#say = say;
    this.#workloads = Array.from({ length: options.namespaces }, (_, i) => {
      const seed = options.seed + i;
      return new Workload(`shadow-${seed}`, seededRandom(seed));
    });
  }

  async run(): Promise<ShadowRunResult> {
    const { seconds, gracePeriod } = this.#options;
    for (const workload of this.#workloads) {
      await this.#client.create('namespaces', namespaceObject(workload.namespace));
      for (let i = 0; i < 3; i++) await this.#take(createNode(workload));
    }
    const { sluice: kubeconfig } = this.#plane.kubeconfigs;
    const sluice = await SluiceProcess.start(kubeconfig, ['--shadow', '--shadow-grace-period', gracePeriod], 'started');
    try {
      const until = performance.now() + seconds * 1000;
      while (performance.now() < until) {
        await this.#churnUntil(Math.min(until, performance.now() + this.#options.checkpointEverySeconds * 1000));
        await this.#checkpoint(sluice);
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
      const workload = this.#workloads[this.#steps % this.#workloads.length];
      if (workload !== undefined) await this.#take(nextStep(workload, churn));
      await sleep(Math.max(0, due + pauseMs - performance.now()));
    }
  }

  async #take(step: Step | undefined): Promise<void> {
    if (step === undefined) return;
    this.#steps++;
    for (const request of step.requests) {
      try {
        await request(this.#client, 'upstream');
      } catch (error) {
        if (!isApiError(error) || error.status < 400 || error.status >= 500) throw error;
        this.#refused++;
      }
    }
  }

  /** A difference that remains after upstream has synced everything several times is permanent. */
  async #checkpoint(sluice: SluiceProcess): Promise<void> {
    this.#checkpoints++;
    for (let attempt = 1; ; attempt++) {
      await sleep(2_000);
      await touchAllObjects(this.#client, `${this.#checkpoints}-${attempt}`);
      const seen = sluice.events('status').length;
      // The next status may be from before the touch; the second one is not.
      await sluice.until(() => sluice.events('status').length >= seen + 2, 'a status event');
      const services = objectAt(sluice.events('status').at(-1), 'services');
      for (const difference of sluice.events('difference').slice(this.#logged)) {
        this.#logged++;
        this.#say(describe(difference));
      }
      const left = open(sluice.lines);
      if ((services.waiting !== 0 || left.length > 0) && attempt < 6) continue;
      this.#remaining.push(...left);
      this.#say(
        `checkpoint ${this.#checkpoints}: ${this.#steps} steps, ${services.total} Services, ${left.length} differences left, ` +
          `${sluice.events('difference').length} so far`,
      );
      break;
    }
    for (const workload of this.#workloads) workload.justDeleted.clear();
  }

  #result(sluice: SluiceProcess, status: number): ShadowRunResult {
    const differences = Map.groupBy(sluice.events('difference'), ({ explanation }) => textAt(explanation, 'rules'));
    return {
      ...{ steps: this.#steps, refused: this.#refused, checkpoints: this.#checkpoints, status },
      ...{ remainingDifferences: this.#remaining, differences, verbs: verbsIn(this.#plane.auditLog ?? '') },
      report: sluice.events('report').at(-1) ?? {},
    };
  }
}

/**
 * Unresolved differences, although the upstream controllers have synced everything. Excludes those that upstream cannot
 * resolve before a Node exists (E15) and random ones.
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

/** A difference as lines for people. */
export function describe(difference: JsonObject): string {
  const { resource, namespace, service, kind, controller } = difference;
  const causes = listAt(difference, 'causes').join('; ');
  const rules = textAt(difference.explanation, 'rules');
  return [
    `${resource} of ${namespace}/${service} (${kind}, ${controller})${rules === '' ? '' : `: ${rules}`}`,
    ...listAt(difference, 'lines').map((line) => `  ${line}`),
    `  causes: ${causes}`,
  ].join('\n');
}
