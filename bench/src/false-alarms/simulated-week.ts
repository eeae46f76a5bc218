import { join } from 'node:path';
import { History, RecordingBus } from '@sluice/console';
import { FakeApiServer, FakeClient, FaultPlan, isStatusError } from '@sluice/fake-apiserver';
import { parseServiceKey } from '@sluice/messages';
import { seededRandom, silentLogger, VirtualClock } from '@sluice/platform';
import { advance } from '@sluice/platform/testing';
import { Recorder } from '@sluice/recording';
import { findProblems } from '@sluice/recording/problems';
import { ClusterWatcher } from '@sluice/watcher';
import type { ClusterApi } from './cluster-api.ts';
import { type Finding, GroundTruth } from './ground-truth.ts';
import { plantIncidents } from './incidents.ts';
import { ModelControllerManager } from './model-controller-manager.ts';
import { OrdinaryCluster } from './ordinary-cluster.ts';
import { day, planDay } from './week.ts';

interface WeekOptions {
  readonly directory: string;
  readonly days: number;
  readonly services: number;
  readonly seed: number;
  readonly say: (line: string) => void;
}

export interface WeekResult {
  /** With a severity of warning or critical. */
  readonly findings: readonly Finding[];
  readonly truth: GroundTruth;
}

/** How often the recorder checks. */
const intervalMs = 10_000;
const monday = Date.parse('2026-01-05T00:00:00Z');
/** How long a controller needs for what has changed in a pause. */
const catchesUpMs = 5_000;
const settlesMs = 1_800_000;

/** Runs the watcher and the recorder of "sluice observe" on a cluster in virtual time. */
export async function simulateWeek({ directory, days, services, seed, say }: WeekOptions): Promise<WeekResult> {
  const clock = new VirtualClock(monday);
  const random = seededRandom(seed);
  const server = new FakeApiServer({ clock, random: seededRandom(seed + 1) });
  const truth = new GroundTruth();
  const manager = new ModelControllerManager(server, clock);
  const api = new PausableApi(server);
  const faults = new FaultPlan();
  const observation = new Observation({ directory, server, clock, faults, seed });
  const cluster = new OrdinaryCluster({ api, clock, random, truth, services });
  const pause = (what: { stop: () => void; start: () => void }) => (seconds: number) => {
    what.stop();
    truth.pauseUntil(clock.now() + seconds * 1_000 + catchesUpMs);
    clock.schedule(seconds * 1_000, () => what.start());
  };
  const apiServer = {
    stop() {
      faults.add({ error: 'unavailable' });
      server.cutWatches('reset');
      api.stop();
      manager.stop();
    },
    start() {
      faults.clear();
      api.start();
      manager.start();
    },
  };
  const watch = {
    stop() {
      for (const verb of ['list', 'watch'] as const)
        faults.add({ verb, resource: 'endpointslices', error: 'unavailable' });
      server.cutWatches('reset', 'endpointslices');
    },
    start: () => faults.clear(),
  };
  const interruptWatch = (seconds: number) => {
    watch.stop();
    clock.schedule(seconds * 1_000, () => watch.start());
  };
  for (const workload of cluster.of('report')) cluster.runJob(workload, 60);
  await advance(clock, settlesMs);
  await observation.start();
  const common = { cluster, clock, random };
  const changeLeader = pause(manager);
  try {
    for (let today = 0; today < days; today++) {
      const restartRecorder = (seconds: number) => observation.restart(seconds);
      const pauses = { changeLeader, stopApiServer: pause(apiServer), interruptWatch, restartRecorder };
      planDay(today, { ...common, ...pauses });
      if (today % 2 === 0) plantIncidents({ ...common, truth, stopController: changeLeader });
      const until = clock.now() + day * 1_000;
      while (clock.now() < until) {
        await advance(clock, intervalMs);
        await observation.check();
      }
      say(`day ${today + 1} of ${days}: ${observation.findings.length} findings so far`);
    }
  } finally {
    await observation.stop();
  }
  return { findings: observation.findings, truth };
}

/** Holds the writes back while the API server does not answer. */
class PausableApi implements ClusterApi {
  readonly #server: FakeApiServer;
  #waiting: (() => void)[] | undefined;

  constructor(server: FakeApiServer) {
    this.#server = server;
  }

  stop(): void {
    this.#waiting ??= [];
  }

  start(): void {
    const waiting = this.#waiting ?? [];
    this.#waiting = undefined;
    for (const run of waiting) run();
  }

  put(...[resource, object]: Parameters<ClusterApi['put']>): void {
    this.#run(() => {
      const { name, namespace = '' } = object.metadata as { readonly name: string; readonly namespace?: string };
      const server = this.#server;
      // Kubelets do not create Pods again that are deleted.
      if (resource === 'pods') server.put(resource, object);
      else if (exists(server, resource, namespace, name)) server.update(resource, object);
      else server.create(resource, object);
    });
  }

  remove(...[resource, namespace, name, isFinal = false]: Parameters<ClusterApi['remove']>): void {
    this.#run(() => {
      try {
        this.#server.delete(resource, namespace, name, isFinal ? { gracePeriodSeconds: 0 } : {});
      } catch (error) {
        if (!isStatusError(error)) throw error;
      }
    });
  }

  #run(write: () => void): void {
    if (this.#waiting === undefined) write();
    else this.#waiting.push(write);
  }
}

function exists(server: FakeApiServer, ...[resource, namespace, name]: Parameters<FakeApiServer['get']>): boolean {
  try {
    return Boolean(server.get(resource, namespace, name));
  } catch (error) {
    if (!isStatusError(error)) throw error;
    return false;
  }
}

interface ObservationOptions {
  readonly directory: string;
  readonly server: FakeApiServer;
  readonly clock: VirtualClock;
  readonly faults: FaultPlan;
  readonly seed: number;
}

/** The watcher and the recorder, and what they find. */
class Observation {
  readonly findings: Finding[] = [];
  readonly #options: ObservationOptions;
  readonly #client: FakeClient;
  #running: { readonly recorder: Recorder; readonly stop: () => Promise<void> } | undefined;
  #starts = 0;
  #known = new Map<string, Finding>();
  #restartAt = Number.POSITIVE_INFINITY;

  constructor(options: ObservationOptions) {
    this.#options = options;
    const { server, clock, faults } = options;
    this.#client = new FakeClient(server, { clock, faults });
  }

  async start(): Promise<void> {
    const { directory, server, clock, seed } = this.#options;
    const limits = { maxBytes: 1024 ** 4, retentionMs: 30 * 86_400_000, minFreeBytes: 0 };
    const common = { clock, random: seededRandom(seed + 2), logger: silentLogger };
    const recorder = await Recorder.open({
      ...{ ...common, directory: join(directory, 'recording'), limits, version: 'bench' },
    });
    const history = new History({ clock, maxBytes: 1024 ** 2, retentionMs: 60_000 });
    const bus = new RecordingBus(history, recorder);
    const watcher: ClusterWatcher = new ClusterWatcher({
      ...{ ...common, bus, cluster: server.identity, reader: this.#client },
      ...{ fencingToken: ++this.#starts, recordEachEvent: true },
    });
    const stopping = new AbortController();
    const done = watcher.run(stopping.signal);
    this.#running = {
      recorder,
      async stop() {
        stopping.abort();
        await done;
        await bus.close();
        await recorder.close();
      },
    };
  }

  async stop(): Promise<void> {
    await this.#running?.stop();
    this.#running = undefined;
  }

  restart(seconds: number): void {
    this.#restartAt = this.#options.clock.now() + seconds * 1_000;
  }

  /** Lists the problems that there are now, as the reporter of the recorder does. */
  async check(): Promise<void> {
    const now = this.#options.clock.now();
    if (this.#restartAt < Number.POSITIVE_INFINITY) {
      await this.stop();
      this.#known.clear();
      if (now >= this.#restartAt) {
        this.#restartAt = Number.POSITIVE_INFINITY;
        await this.start();
      }
      return;
    }
    if (this.#running === undefined) return;
    const query = { from: 0, to: now, keys: '%/%/%', isOpen: true, all: false };
    const problems = await findProblems(this.#running.recorder, query);
    const known = new Map<string, Finding>();
    for (const { key, reason, from, severity } of problems) {
      if (severity === 'info') continue;
      const { namespace, service } = parseServiceKey(key);
      const name = `${key} ${reason}`;
      const finding = this.#known.get(name) ?? { service: `${namespace}/${service}`, reason, from, to: now };
      finding.to = now;
      if (!this.#known.has(name)) this.findings.push(finding);
      known.set(name, finding);
    }
    this.#known = known;
  }
}
