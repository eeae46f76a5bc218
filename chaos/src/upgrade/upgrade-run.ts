import { createWriteStream, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { seededRandom, silentLogger } from '@sluice/platform';
import { systemClock } from '@sluice/platform/process';
import type { RedisPorts } from '@sluice/store/redis';
import { openRedis } from '@sluice/store/redis';
import { isAccepted } from '../audit/audit-matcher.ts';
import { RecoveryTimes } from '../audit/recovery-times.ts';
import { ClusterRun } from '../cluster-run.ts';
import type { RoleProcess } from '../fleet/role-process.ts';
import { type Fleet, startServers } from '../fleet/start-fleet.ts';
import { observePlans } from '../observe/observe-plans.ts';
import { type Cluster, startCluster } from '../observe/open-cluster.ts';
import type { PlanObserver } from '../observe/plan-observer.ts';
import { ExplainedObjects } from '../workload/explained-objects.ts';
import { errorLines } from './error-lines.ts';
import { Ownership } from './ownership.ts';
import type { UpgradeReport, UpgradeViolation } from './report.ts';
import { type ProblemMetric, problemMetrics, sumMetrics } from './worker-metrics.ts';

export interface UpgradeOptions {
  /** A checkout of the earlier version, with its packages. */
  readonly earlier: string;
  readonly seed: number;
  readonly clusters: number;
  /** Changes per second in all clusters together. */
  readonly rate: number;
  /** Time that each mix of versions runs. */
  readonly pauseMs: number;
  /** Of logs and plans. Undefined: a temporary one that is deleted after a run without violations. */
  readonly directory: string | undefined;
}

const workers = 3;
const partitions = 16;
const graceMs = 60_000;

/** Each step before and after the replacements, and each replacement. */
interface Planned {
  readonly what: string;
  readonly replaced?: number;
}

/**
 * Replaces each worker of a fleet by one of this version and back, while Services and Pods change.
 *
 * @throws LocalError if something cannot be started
 */
export async function runUpgrade(options: UpgradeOptions, say: (line: string) => void): Promise<UpgradeReport> {
  const directory = options.directory ?? mkdtempSync(join(tmpdir(), 'sluice-upgrade-'));
  mkdirSync(directory, { recursive: true });
  const cleanups: (() => unknown)[] = [];
  let report: UpgradeReport | undefined;
  try {
    const clusters = await Promise.all(
      Array.from({ length: options.clusters }, async (_, index) => {
        const name = `cluster-${index + 1}`;
        const cluster = await startCluster(join(directory, name), name);
        cleanups.push(() => cluster.stop());
        return cluster;
      }),
    );
    const fleet = await startServers({
      ...{ directory, partitions, upgradeFrom: options.earlier, allEarlier: true },
      ...{ bus: 'nats', natsNodes: 1, sentinel: false, disks: false, versions: 2, roles: ['worker'] },
      replicas: { watcher: 0, reconciler: 0, writer: 0, worker: workers, bus: 1, store: 1 },
      clusters: clusters.map(({ name, plane }) => ({ name, kubeconfig: plane.kubeconfigs.sluice, url: plane.url })),
    });
    cleanups.push(() => fleet.stop());
    const { url } = await fleet.store.master();
    const store = await openRedis({ urls: [url], fleet: fleet.name }, { clock: systemClock, logger: silentLogger });
    cleanups.push(() => store.close());
    report = await new UpgradeRun({ options, directory, clusters, fleet, store, say, cleanups }).run();
    return report;
  } finally {
    for (const end of cleanups.reverse()) await end();
    const wanted = options.directory !== undefined || report === undefined || report.violations.length > 0;
    if (!wanted) rmSync(directory, { recursive: true, force: true });
  }
}

interface UpgradeRunOptions {
  readonly options: UpgradeOptions;
  readonly directory: string;
  readonly clusters: readonly Cluster[];
  readonly fleet: Fleet;
  readonly store: RedisPorts;
  readonly say: (line: string) => void;
  readonly cleanups: (() => unknown)[];
}

class UpgradeRun {
  readonly #with: UpgradeRunOptions;
  readonly #clusters: readonly ClusterRun[];
  readonly #explained: readonly ExplainedObjects[];
  readonly #recoveryTimes = new RecoveryTimes();
  readonly #ownership: Ownership;
  readonly #violations: UpgradeViolation[] = [];
  /** Whether each worker is of this version. */
  readonly #isNew = Array.from({ length: workers }, () => false);
  #replacing: RoleProcess | undefined;
  #over = false;

  constructor(given: UpgradeRunOptions) {
    this.#with = given;
    const { clusters, options, store } = given;
    this.#ownership = new Ownership(store.leases, { workers, partitions });
    const onFailure = (error: unknown) => this.#problem('process failed', 'changes', String(error));
    const { seed } = options;
    this.#clusters = clusters.map(
      (cluster, number) => new ClusterRun({ cluster, number, seed, recoveryTimes: this.#recoveryTimes, onFailure }),
    );
    this.#explained = clusters.map(
      ({ user }, number) => new ExplainedObjects(user, seededRandom(seed + 1_000 + number), onFailure, number),
    );
  }

  async run(): Promise<UpgradeReport> {
    const { options, fleet, directory, say } = this.#with;
    const observer = await this.#observePlans();
    const watching = new AbortController();
    const watched = Promise.all(this.#clusters.map((cluster) => cluster.watch(watching.signal)));
    this.#with.cleanups.push(async () => {
      watching.abort();
      await watched;
    });
    for (const { target } of fleet.roles) await target.start();
    await Promise.all([...this.#clusters, ...this.#explained].map((each) => each.create()));
    await this.#converge(observer);
    const following = Promise.all([this.#tail(), this.#supervise(), this.#ownership.follow(() => this.#over)]);
    const before = this.#changes();
    const steps: (Planned & {
      readonly at: number;
      readonly replacedMs: number | undefined;
      readonly fleet: string;
    })[] = [];
    try {
      await this.#settle();
      for (const each of this.#clusters) each.churn.start(options.rate / this.#clusters.length);
      for (const each of this.#explained) each.start(options.rate / 10 / this.#clusters.length);
      for (const step of plan()) {
        say(step.what);
        const at = systemClock.monotonic();
        if (step.replaced !== undefined) await this.#replace(step.replaced);
        const replacedMs = step.replaced === undefined ? undefined : systemClock.monotonic() - at;
        await sleep(options.pauseMs);
        steps.push({ ...step, at, replacedMs, fleet: this.#isNew.map((isNew) => (isNew ? 'new' : 'old')).join(' ') });
      }
      for (const each of [...this.#clusters.map(({ churn }) => churn), ...this.#explained]) await each.stop();
      await this.#converge(observer);
    } finally {
      this.#over = true;
      await following;
    }
    for (const cluster of this.#clusters) {
      const others = this.#clusters.filter((other) => other !== cluster);
      this.#violations.push(...cluster.judge(others, []));
    }
    await this.#inspect();
    const writes = this.#clusters.map((cluster) => cluster.writes.filter(isAccepted).length);
    return {
      steps: steps.map(({ what, fleet: versions, at, replacedMs }, index) => {
        const until = steps[index + 1]?.at ?? Number.POSITIVE_INFINITY;
        const { count, slowestMs } = this.#recoveryTimes.between(at, until);
        const unownedMs = this.#ownership.longestGap(at, until);
        return { what, fleet: versions, replacedMs, unownedMs, changes: count, slowestMs };
      }),
      changes: this.#changes() - before,
      writes: writes.reduce((sum, each) => sum + each, 0),
      violations: this.#violations,
      evidence: this.#violations.length > 0 || options.directory !== undefined ? directory : undefined,
    };
  }

  /** SIGTERM, wait, start as the other version. */
  async #replace(index: number): Promise<void> {
    const worker = this.#with.fleet.roles[index];
    if (worker === undefined) throw new RangeError(`there is no worker ${index}`);
    await this.#readMetrics(worker, false);
    this.#replacing = worker;
    const inTime = await worker.target.stop(graceMs);
    if (!inTime) this.#problem('process failed', worker.target.name, 'did not exit within 60 s of SIGTERM');
    worker.changeVersion();
    this.#isNew[index] = !this.#isNew[index];
    await worker.target.start();
    this.#replacing = undefined;
    await this.#settle();
  }

  async #settle(): Promise<void> {
    const missing = await this.#ownership.settled();
    if (missing !== undefined) this.#problem('no owner', 'fleet', missing);
  }

  /** Restarts workers that exit on their own, as a process manager does. */
  async #supervise(): Promise<void> {
    while (!this.#over) {
      for (const worker of this.#with.fleet.roles) {
        const { name, process } = worker.target;
        if (process.running || worker === this.#replacing) continue;
        this.#problem('process failed', name, 'exited unexpectedly; see its log');
        await worker.target.start();
      }
      await sleep(500);
    }
  }

  async #tail(): Promise<void> {
    while (!this.#over) {
      for (const cluster of this.#clusters) await cluster.readAudit();
      await sleep(500);
    }
  }

  async #observePlans(): Promise<PlanObserver> {
    const kept = createWriteStream(join(this.#with.directory, 'plans.jsonl'));
    const observer = await observePlans(this.#with.fleet, (planned, payload) => {
      const cluster = this.#clusters.find(({ identity }) => identity === planned.key.cluster);
      if (cluster?.plans.addPlan(planned)) kept.write(`${Buffer.from(payload).toString('utf8')}\n`);
    });
    this.#with.cleanups.push(async () => {
      await observer.close();
      await new Promise((resolve) => kept.end(resolve));
    });
    return observer;
  }

  async #converge(observer: PlanObserver): Promise<void> {
    const results = await Promise.all(this.#clusters.map((cluster) => cluster.converge()));
    await observer.caughtUp();
    for (const [index, { wrong, ms }] of results.entries()) {
      const cluster = this.#clusters[index];
      await cluster?.readAudit();
      this.#with.say(`${cluster?.name} converged in ${(ms / 1_000).toFixed(1)} s: ${wrong.length} differences`);
      for (const line of wrong) this.#problem('lost change', cluster?.name ?? '', line);
    }
  }

  /** What must not be left in the fleet, its store and its logs. */
  async #inspect(): Promise<void> {
    const { fleet, store, directory } = this.#with;
    for (const worker of fleet.roles) await this.#readMetrics(worker, true);
    for (const { name, reason } of await store.deadLetters.list()) this.#problem('unreadable message', name, reason);
    for (const scope of this.#ownership.unowned) this.#problem('no owner', scope, 'at the end');
    for (const { target } of fleet.roles) {
      const log = readFileSync(join(directory, 'logs', `${target.name}.log`), 'utf8');
      for (const [message, count] of errorLines(log))
        this.#problem('error logged', target.name, `${count} × ${message}`);
    }
  }

  async #readMetrics({ metrics, target }: RoleProcess, atEnd: boolean): Promise<void> {
    const answer = await fetch(metrics);
    if (!answer.ok) throw new Error(`${metrics} answered ${answer.status}`);
    for (const [name, value] of sumMetrics(await answer.text())) {
      // While Services change, some may be parked for a moment.
      if (name === 'sluice_parked_services' && !atEnd) continue;
      if (value > 0) this.#problem(kindOf(name), target.name, `${value} ${problemMetrics[name]} (${name})`);
    }
  }

  #changes(): number {
    const counts = [...this.#clusters.map(({ churn }) => churn), ...this.#explained].map(({ changes }) => changes);
    return counts.reduce((sum, each) => sum + each, 0);
  }

  #problem(what: UpgradeViolation['what'], where: string, evidence: string): void {
    this.#violations.push({ what, where, evidence });
  }
}

const kindOf = (metric: ProblemMetric): UpgradeViolation['what'] =>
  metric === 'sluice_parked_services' ? 'parked' : 'unreadable message';

function plan(): readonly Planned[] {
  const indexes = Array.from({ length: workers }, (_, index) => index);
  return [
    { what: 'before' },
    ...indexes.map((replaced) => ({ what: `upgrade worker-${replaced + 1}`, replaced })),
    ...indexes.map((replaced) => ({ what: `roll back worker-${replaced + 1}`, replaced })),
  ];
}
