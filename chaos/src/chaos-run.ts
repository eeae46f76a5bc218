import { createWriteStream, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { SmallDisk } from '@sluice/conformance';
import { errorMessage, seededRandom } from '@sluice/platform';
import { systemClock } from '@sluice/platform/process';
import { isAccepted } from './audit/audit-matcher.ts';
import { RecoveryTimes } from './audit/recovery-times.ts';
import type { Violation } from './audit/violation.ts';
import { ClusterRun } from './cluster-run.ts';
import { Faults } from './fleet/faults.ts';
import { type Fleet, startServers } from './fleet/start-fleet.ts';
import { observePlans } from './observe/observe-plans.ts';
import { type Cluster, startCluster } from './observe/open-cluster.ts';
import type { OnPlan, PlanObserver } from './observe/plan-observer.ts';
import type { Options } from './options.ts';
import type { PerformedAction, Report } from './report.ts';
import {
  type Action,
  chaosActions,
  fleets,
  freezeActions,
  type Kind,
  type Replicas,
  roles,
  schedule,
  type Topology,
} from './schedule.ts';

const convergeEvery = 50;
const snapshotEvery = 10;

interface StartedAction {
  readonly kind: Kind;
  readonly at: number;
}

/**
 * Starts all servers and the fleet, injects faults and checks the result.
 *
 * @throws LocalError if something cannot be started
 */
export async function runChaos(options: Options, say: (line: string) => void): Promise<Report> {
  const directory = options.directory ?? mkdtempSync(join(tmpdir(), 'sluice-chaos-'));
  mkdirSync(directory, { recursive: true });
  const cleanups: (() => unknown)[] = [];
  let report: Report | undefined;
  try {
    const { seed, bus, natsNodes, sentinel, partitions, upgradeFrom } = options;
    const processes = fleets[options.processes];
    const topology: Topology = {
      bus,
      natsNodes,
      sentinel,
      disks: SmallDisk.possible,
      versions: upgradeFrom === undefined ? 1 : 2,
      roles: roles.filter((role) => processes[role] > 0),
    };
    say(`seed ${seed}; starting ${options.clusters} clusters, ${natsNodes} × ${bus}, Redis and the fleet`);
    if (!topology.disks) say('disks are not filled: this user may not mount a file system');
    const clusters = await Promise.all(
      Array.from({ length: options.clusters }, async (_, index) => {
        const name = `cluster-${index + 1}`;
        const cluster = await startCluster(join(directory, name), name);
        cleanups.push(() => cluster.stop());
        return cluster;
      }),
    );
    const replicas = { ...processes, bus: natsNodes, store: sentinel ? 2 : 1 };
    const served = clusters.map(({ name, plane }) => ({ name, kubeconfig: plane.kubeconfigs.sluice, url: plane.url }));
    const fleet = await startServers({ ...topology, directory, partitions, replicas, clusters: served, upgradeFrom });
    cleanups.push(() => fleet.stop());
    report = await new ChaosRun({ options, topology, replicas, directory, clusters, fleet, say, cleanups }).run();
    return report;
  } finally {
    for (const end of cleanups.reverse()) await end();
    const wanted = options.directory !== undefined || report === undefined || report.violations.length > 0;
    if (!wanted) rmSync(directory, { recursive: true, force: true });
  }
}

interface ChaosRunOptions {
  readonly options: Options;
  readonly topology: Topology;
  readonly replicas: Replicas;
  readonly directory: string;
  readonly clusters: readonly Cluster[];
  readonly fleet: Fleet;
  readonly say: (line: string) => void;
  readonly cleanups: (() => unknown)[];
}

class ChaosRun {
  readonly #with: ChaosRunOptions;
  readonly #clusters: readonly ClusterRun[];
  readonly #recoveryTimes = new RecoveryTimes();
  readonly #violations: Violation[] = [];
  readonly #startedActions: StartedAction[] = [];
  readonly #wipes: number[] = [];
  readonly #restPoints: { afterActions: number; ms: number }[] = [];
  #restarted = 0;
  #over = false;

  constructor(given: ChaosRunOptions) {
    this.#with = given;
    const { clusters, options } = given;
    this.#clusters = clusters.map(
      (cluster, number) =>
        new ClusterRun({
          ...{ cluster, number, seed: options.seed, recoveryTimes: this.#recoveryTimes },
          onFailure: (error) => this.#problem('process failed', `changes in ${cluster.name}`, String(error)),
        }),
    );
  }

  async run(): Promise<Report> {
    const { options, fleet, directory } = this.#with;
    const observer = await this.#observePlans();
    const watching = new AbortController();
    const watched = Promise.all(this.#clusters.map((cluster) => cluster.watch(watching.signal)));
    this.#with.cleanups.push(async () => {
      watching.abort();
      await watched;
    });
    for (const { target } of fleet.roles) await target.start();
    await Promise.all(this.#clusters.map((cluster) => cluster.create()));
    const tailing = this.#tail();
    const supervising = this.#supervise();
    await this.#converge(observer, 0);
    const before = this.#changes();
    const planned = this.#schedule();
    writeFileSync(join(directory, 'actions.json'), `${JSON.stringify(planned, undefined, 1)}\n`);
    const faults = new Faults({
      fleet,
      observer,
      onWipe: () => this.#wipes.push(Date.now()),
      onLate: (name) => this.#problem('process failed', name, 'did not exit within 20 s of SIGTERM'),
    });
    let ranMs = 0;
    try {
      for (let from = 0; from < planned.length && this.#violations.length === 0; from += convergeEvery) {
        const startedAt = systemClock.monotonic();
        for (const { churn } of this.#clusters) churn.start(options.rate / this.#clusters.length);
        await this.#act(faults, planned.slice(from, from + convergeEvery), planned[from - 1]?.at ?? 0);
        for (const { churn } of this.#clusters) await churn.stop();
        ranMs += systemClock.monotonic() - startedAt;
        await this.#converge(observer, Math.min(from + convergeEvery, planned.length));
        this.#judge();
      }
    } finally {
      this.#over = true;
      await Promise.all([tailing, supervising]);
    }
    const writes = this.#clusters.map((cluster) => cluster.writes.filter(isAccepted).length);
    return {
      options,
      done: this.#startedActions.map(
        ({ kind, at }): PerformedAction => ({ kind, recoveredMs: this.#recoveryTimes.after(at) }),
      ),
      ranMs,
      changes: this.#changes() - before,
      writes,
      rejected: sum(this.#clusters.map((cluster) => cluster.writes.length)) - sum(writes),
      plans: sum(this.#clusters.map(({ plans }) => plans.planCount)),
      fenced: this.#countLines(/FencedError/),
      crashed: this.#restarted,
      convergencePoints: this.#restPoints,
      violations: this.#violations,
      evidence: this.#violations.length > 0 || options.directory !== undefined ? directory : undefined,
    };
  }

  #schedule(): readonly Action[] {
    const { options, topology, replicas } = this.#with;
    const { actions, freezesOnly, pauseMs, seed } = options;
    return schedule({
      ...{ actions, replicas },
      random: seededRandom(seed),
      kinds: freezesOnly ? freezeActions(topology) : chaosActions(topology),
      pauseMs: [Math.floor(pauseMs * 0.75), Math.ceil(pauseMs * 1.25)],
    });
  }

  async #observePlans(): Promise<PlanObserver> {
    const kept = createWriteStream(join(this.#with.directory, 'plans.jsonl'));
    const onPlan: OnPlan = (plan, payload) => {
      const cluster = this.#clusters.find(({ identity }) => identity === plan.key.cluster);
      if (cluster === undefined) {
        this.#problem('crossed clusters', 'bus', `plan for the unknown cluster ${plan.key.cluster}`);
        return;
      }
      if (!cluster.plans.addPlan(plan)) return;
      kept.write(payload);
      kept.write('\n');
    };
    const observer = await observePlans(this.#with.fleet, onPlan);
    this.#with.cleanups.push(async () => {
      await observer.close();
      await new Promise((resolve) => kept.end(resolve));
    });
    return observer;
  }

  /** Performs the actions at their times. Returns when all are complete. */
  async #act(faults: Faults, actions: readonly Action[], from: number): Promise<void> {
    const started = systemClock.monotonic();
    const inFlight: Promise<void>[] = [];
    for (const [n, action] of actions.entries()) {
      await sleep(Math.max(0, started + action.at - from - systemClock.monotonic()));
      // A store that cannot be saved now is restored from an older snapshot.
      const noSnapshot = (error: unknown) => this.#with.say(`no snapshot of the store: ${errorMessage(error)}`);
      if (n % snapshotEvery === 0) inFlight.push(faults.takeSnapshot().catch(noSnapshot));
      const onStart = () => void this.#startedActions.push({ kind: action.kind, at: systemClock.monotonic() });
      this.#with.say(`${(action.at / 1000).toFixed(1)} s: ${action.kind} (${action.target})`);
      inFlight.push(
        faults.perform(action, onStart).catch((error: unknown) => {
          const why = error instanceof Error ? (error.stack ?? error.message) : String(error);
          this.#problem('process failed', `${action.kind} of ${action.target}`, why);
        }),
      );
    }
    await Promise.all(inFlight);
  }

  async #converge(observer: PlanObserver, afterActions: number): Promise<void> {
    const results = await Promise.all(this.#clusters.map((cluster) => cluster.converge()));
    await observer.caughtUp();
    for (const cluster of this.#clusters) await cluster.readAudit();
    const ms = Math.max(...results.map((result) => result.ms));
    this.#restPoints.push({ afterActions, ms });
    const wrong = results.flatMap((result, index) =>
      result.wrong.map((line) => `${this.#clusters[index]?.name}: ${line}`),
    );
    this.#with.say(
      `converged after ${afterActions} actions in ${(ms / 1000).toFixed(1)} s: ${wrong.length === 0 ? 'no differences' : `${wrong.length} DIFFERENCES`}`,
    );
    for (const line of wrong) this.#problem('lost change', `after ${afterActions} actions`, line);
  }

  #judge(): void {
    for (const cluster of this.#clusters) {
      const others = this.#clusters.filter((other) => other !== cluster);
      this.#violations.push(...cluster.judge(others, this.#wipes));
    }
  }

  async #tail(): Promise<void> {
    while (!this.#over) {
      for (const cluster of this.#clusters) await cluster.readAudit();
      await sleep(500);
    }
  }

  /** Restarts processes and servers that exit on their own, as a process manager does. */
  async #supervise(): Promise<void> {
    const { fleet, say } = this.#with;
    while (!this.#over) {
      for (const target of fleet.targets.values()) {
        if (target.busy || target.process.running) continue;
        if (fleet.roles.some((role) => role.target === target)) this.#restarted++;
        say(`${target.name} exited unexpectedly; restarting it`);
        const failed = (error: unknown) => say(`${target.name} does not start: ${errorMessage(error)}; retrying`);
        await target.enqueue(() => target.start()).catch(failed);
      }
      await sleep(500);
    }
  }

  #changes(): number {
    return sum(this.#clusters.map(({ churn }) => churn.changes));
  }

  #problem(what: Violation['what'], where: string, evidence: string): void {
    this.#violations.push({ what, where, evidence });
  }

  #countLines(pattern: RegExp): number {
    const logs = join(this.#with.directory, 'logs');
    return sum(
      readdirSync(logs).map((name) => {
        const lines = readFileSync(join(logs, name), 'utf8').split('\n');
        return lines.filter((line) => pattern.test(line)).length;
      }),
    );
  }
}

const sum = (numbers: readonly number[]): number => numbers.reduce((a, b) => a + b, 0);
