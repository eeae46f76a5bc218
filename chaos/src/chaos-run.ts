import { createWriteStream, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { connectKafkaBus, defaultKafkaTopics } from '@sluice/bus-kafka';
import { systemClock, systemRandom } from '@sluice/process';
import { seededRandom, silentLogger } from '@sluice/runtime';
import { AuditMatcher, isAccepted } from './audit/audit-matcher.ts';
import { checkSteadyWrites } from './audit/check-steady-writes.ts';
import { RecoveryTimes } from './audit/recovery-times.ts';
import type { Violation } from './audit/violation.ts';
import { Faults } from './fleet/faults.ts';
import { type Fleet, startServers } from './fleet/start-fleet.ts';
import { followBusPlans } from './observe/bus-plans.ts';
import { followNatsPlans } from './observe/nats-plans.ts';
import { type Cluster, startCluster } from './observe/open-cluster.ts';
import type { OnPlan, PlanObserver } from './observe/plan-observer.ts';
import { watchSlices } from './observe/slice-watch.ts';
import type { Options } from './options.ts';
import type { PerformedAction, Report } from './report.ts';
import { type Action, chaosActions, freezeActions, type Kind, schedule } from './schedule.ts';
import { waitUntilConverged } from './wait-until-converged.ts';
import { Churn } from './workload/churn.ts';
import { SteadyServices, steadyNamespace } from './workload/steady-services.ts';

const replicas = { watcher: 2, reconciler: 3, writer: 2 };
const convergeEvery = 50;
const snapshotEvery = 10;
const cleanUpMs = 30_000;

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
    say(`seed ${options.seed}; starting kube-apiserver, etcd, ${options.bus}, Redis and the fleet`);
    const cluster = await startCluster(directory);
    cleanups.push(() => cluster.stop());
    const { bus, partitions } = options;
    const kubeconfig = cluster.plane.kubeconfigs.sluice;
    const fleet = await startServers({ directory, bus, partitions, kubeconfig, replicas });
    cleanups.push(() => fleet.stop());
    report = await new ChaosRun(options, directory, cluster, fleet, say, cleanups).run();
    return report;
  } finally {
    for (const end of cleanups.reverse()) await end();
    const wanted = options.directory !== undefined || report === undefined || report.violations.length > 0;
    if (!wanted) rmSync(directory, { recursive: true, force: true });
  }
}

class ChaosRun {
  readonly #options: Options;
  readonly #directory: string;
  readonly #cluster: Cluster;
  readonly #fleet: Fleet;
  readonly #say: (line: string) => void;
  readonly #cleanups: (() => unknown)[];
  readonly #auditMatcher = new AuditMatcher();
  readonly #recoveryTimes = new RecoveryTimes();
  readonly #violations: Violation[] = [];
  readonly #startedActions: StartedAction[] = [];
  readonly #wipes: number[] = [];
  readonly #restPoints: { afterActions: number; ms: number }[] = [];
  #restarted = 0;
  #over = false;

  constructor(
    options: Options,
    directory: string,
    cluster: Cluster,
    fleet: Fleet,
    say: (line: string) => void,
    cleanups: (() => unknown)[],
  ) {
    this.#options = options;
    this.#directory = directory;
    this.#cluster = cluster;
    this.#fleet = fleet;
    this.#say = say;
    this.#cleanups = cleanups;
  }

  async run(): Promise<Report> {
    const { seed, rate, actions, freezesOnly, bus, pauseMs } = this.#options;
    const observer = await this.#observePlans();
    const watching = new AbortController();
    const watched = watchSlices(
      this.#cluster.reader,
      steadyNamespace,
      (pod, ready) => this.#recoveryTimes.observed(pod, ready, systemClock.monotonic()),
      watching.signal,
    );
    this.#cleanups.push(async () => {
      watching.abort();
      await watched;
    });
    const steady = new SteadyServices(this.#cluster.user, seededRandom(seed + 1));
    const fail = (error: unknown) => this.#problem('process failed', 'churn', String(error));
    const measured = {
      isPending: (pod: string) => this.#recoveryTimes.isPending(pod),
      flipped: (pod: string, ready: boolean) => this.#recoveryTimes.flipped(pod, ready, systemClock.monotonic()),
    };
    const churn = new Churn(this.#cluster.user, seededRandom(seed + 2), steady, measured, fail);
    for (const role of this.#fleet.roles) await role.start();
    await steady.create();
    await churn.create();
    const tailing = this.#tail();
    const supervising = this.#supervise();
    await this.#waitUntilConverged(steady, observer, 0);
    const convergedAt = Date.now();
    const before = churn.changes;
    const planned = schedule({
      actions,
      replicas,
      random: seededRandom(seed),
      kinds: freezesOnly ? freezeActions : chaosActions(bus),
      pauseMs: [Math.floor(pauseMs * 0.75), Math.ceil(pauseMs * 1.25)],
    });
    writeFileSync(join(this.#directory, 'actions.json'), `${JSON.stringify(planned, undefined, 1)}\n`);
    const faults = new Faults({
      fleet: this.#fleet,
      observer,
      onWipe: () => this.#wipes.push(Date.now()),
      onLate: (name) => this.#problem('process failed', name, 'did not exit within 20 s of SIGTERM'),
    });
    let ranMs = 0;
    for (let from = 0; from < planned.length && this.#violations.length === 0; from += convergeEvery) {
      const startedAt = systemClock.monotonic();
      churn.start(rate);
      await this.#act(faults, planned.slice(from, from + convergeEvery), planned[from - 1]?.at ?? 0);
      await churn.stop();
      ranMs += systemClock.monotonic() - startedAt;
      await this.#waitUntilConverged(steady, observer, Math.min(from + convergeEvery, planned.length));
      this.#judge(steady, convergedAt);
    }
    this.#over = true;
    await Promise.all([tailing, supervising]);
    const writes = this.#cluster.audit.writes;
    return {
      options: this.#options,
      done: this.#startedActions.map(
        ({ kind, at }): PerformedAction => ({ kind, recoveredMs: this.#recoveryTimes.after(at) }),
      ),
      ranMs,
      changes: churn.changes - before,
      writes: writes.filter(isAccepted).length,
      rejected: writes.filter((write) => !isAccepted(write)).length,
      plans: this.#auditMatcher.planCount,
      fenced: this.#countLines(/FencedError/),
      crashed: this.#restarted,
      convergencePoints: this.#restPoints,
      violations: this.#violations,
      evidence: this.#violations.length > 0 || this.#options.directory !== undefined ? this.#directory : undefined,
    };
  }

  async #observePlans(): Promise<PlanObserver> {
    const { fleet, partitions, bus } = this.#fleet;
    const kept = createWriteStream(join(this.#directory, 'plans.jsonl'));
    const onPlan: OnPlan = (plan, payload) => {
      if (!this.#auditMatcher.addPlan(plan)) return;
      kept.write(payload);
      kept.write('\n');
    };
    const observer =
      bus.kind === 'nats'
        ? await this.#natsPlans(bus.server.url, onPlan)
        : await followBusPlans(
            await connectKafkaBus({
              ...defaultKafkaTopics,
              brokers: [bus.server.broker],
              clientId: 'chaos-observer',
              fleet,
              partitions,
              replicationFactor: 1,
              minInsyncReplicas: 1,
              clock: systemClock,
              random: systemRandom,
              logger: silentLogger,
            }),
            onPlan,
          );
    this.#cleanups.push(async () => {
      await observer.close();
      await new Promise((resolve) => kept.end(resolve));
    });
    return observer;
  }

  #natsPlans(url: string, onPlan: OnPlan): Promise<PlanObserver> {
    const { fleet, partitions } = this.#fleet;
    return followNatsPlans({ urls: [url], fleet, partitions, onPlan });
  }

  /** Performs the actions at their times. Returns when all are complete. */
  async #act(faults: Faults, actions: readonly Action[], from: number): Promise<void> {
    const started = systemClock.monotonic();
    const inFlight: Promise<void>[] = [];
    for (const [n, action] of actions.entries()) {
      await sleep(Math.max(0, started + action.at - from - systemClock.monotonic()));
      if (n % snapshotEvery === 0) inFlight.push(faults.takeSnapshot());
      const onStart = () => void this.#startedActions.push({ kind: action.kind, at: systemClock.monotonic() });
      this.#say(`${(action.at / 1000).toFixed(1)} s: ${action.kind} (${action.target})`);
      inFlight.push(
        faults.perform(action, onStart).catch((error: unknown) => {
          const why = error instanceof Error ? (error.stack ?? error.message) : String(error);
          this.#problem('process failed', `${action.kind} of ${action.target}`, why);
        }),
      );
    }
    await Promise.all(inFlight);
  }

  async #waitUntilConverged(steady: SteadyServices, observer: PlanObserver, afterActions: number): Promise<void> {
    const { reader, audit } = this.#cluster;
    const { wrong, ms } = await waitUntilConverged({ steady, reader, audit, clock: systemClock, random: systemRandom });
    await observer.caughtUp();
    await audit.read();
    this.#restPoints.push({ afterActions, ms });
    this.#say(
      `converged after ${afterActions} actions in ${(ms / 1000).toFixed(1)} s: ${wrong.length === 0 ? 'no differences' : `${wrong.length} DIFFERENCES`}`,
    );
    for (const line of wrong) this.#problem('lost change', `after ${afterActions} actions`, line);
  }

  #judge(steady: SteadyServices, convergedAt: number): void {
    const { writes } = this.#cluster.audit;
    const { alwaysReady } = steady;
    const expected = { namespace: steadyNamespace, alwaysReady, convergedAt, wipes: this.#wipes, cleanUpMs: cleanUpMs };
    this.#violations.push(...this.#auditMatcher.check(writes), ...checkSteadyWrites(writes, expected));
  }

  /** The audit log grows by hundreds of kilobytes per second, so it is read continuously. */
  async #tail(): Promise<void> {
    while (!this.#over) {
      await this.#cluster.audit.read();
      await sleep(500);
    }
  }

  /** Restarts processes that exit on their own, as a process manager does. */
  async #supervise(): Promise<void> {
    while (!this.#over) {
      for (const role of this.#fleet.roles) {
        if (role.busy || role.process.running) continue;
        this.#restarted++;
        this.#say(`${role.name} exited unexpectedly; restarting it`);
        await role.enqueue(() => role.start());
      }
      await sleep(500);
    }
  }

  #problem(what: Violation['what'], where: string, evidence: string): void {
    this.#violations.push({ what, where, evidence });
  }

  #countLines(pattern: RegExp): number {
    const logs = join(this.#directory, 'logs');
    return readdirSync(logs).reduce((sum, name) => {
      const lines = readFileSync(join(logs, name), 'utf8').split('\n');
      return sum + lines.filter((line) => pattern.test(line)).length;
    }, 0);
  }
}
