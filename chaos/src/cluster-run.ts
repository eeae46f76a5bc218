import { seededRandom } from '@sluice/platform';
import { systemClock, systemRandom } from '@sluice/platform/process';
import { AuditMatcher } from './audit/audit-matcher.ts';
import { checkSteadyWrites } from './audit/check-steady-writes.ts';
import type { RecoveryTimes } from './audit/recovery-times.ts';
import type { Violation } from './audit/violation.ts';
import type { Cluster } from './observe/open-cluster.ts';
import { watchSlices } from './observe/slice-watch.ts';
import { waitUntilConverged } from './wait-until-converged.ts';
import { Churn } from './workload/churn.ts';
import { SteadyServices, steadyNamespace } from './workload/steady-services.ts';

/** Time in which duplicate slices are cleaned up after a wipe. */
const cleanUpMs = 30_000;

export interface ClusterRunOptions {
  readonly cluster: Cluster;
  /** Starts at 0. */
  readonly number: number;
  readonly seed: number;
  readonly recoveryTimes: RecoveryTimes;
  readonly onFailure: (error: unknown) => void;
}

/** The changes in one cluster, and the judgement of what the fleet wrote to it. */
export class ClusterRun {
  readonly churn: Churn;
  /** Knows the plans for this cluster. */
  readonly plans = new AuditMatcher();
  readonly #cluster: Cluster;
  readonly #recoveryTimes: RecoveryTimes;
  readonly #steady: SteadyServices;
  #convergedAt = Number.POSITIVE_INFINITY;

  constructor({ cluster, number, seed, recoveryTimes, onFailure }: ClusterRunOptions) {
    this.#cluster = cluster;
    this.#recoveryTimes = recoveryTimes;
    const { name, user } = cluster;
    const random = (purpose: number) => seededRandom(seed + 2 * number + purpose);
    this.#steady = new SteadyServices(user, random(1), { name, number });
    const probe = {
      isPending: (pod: string) => recoveryTimes.isPending(pod),
      flipped: (pod: string, ready: boolean) => recoveryTimes.flipped(pod, ready, systemClock.monotonic()),
    };
    this.churn = new Churn(user, random(2), this.#steady, probe, onFailure);
  }

  get name(): string {
    return this.#cluster.name;
  }

  get identity(): string {
    return this.#cluster.identity;
  }

  get writes() {
    return this.#cluster.audit.writes;
  }

  async create(): Promise<void> {
    await this.#steady.create();
    await this.churn.create();
  }

  /** Observes when changes of probed Pods become visible, until `signal` aborts. */
  watch(signal: AbortSignal): Promise<void> {
    const { reader } = this.#cluster;
    const onShown = (pod: string, ready: boolean) => this.#recoveryTimes.observed(pod, ready, systemClock.monotonic());
    return watchSlices(reader, steadyNamespace, onShown, signal);
  }

  /** The audit log grows by hundreds of kilobytes per second, so it is read continuously. */
  readAudit(): Promise<number> {
    return this.#cluster.audit.read();
  }

  /** Returns the remaining differences and the time it took. */
  async converge(): Promise<{ readonly wrong: readonly string[]; readonly ms: number }> {
    const { reader, audit } = this.#cluster;
    const ports = { clock: systemClock, random: systemRandom };
    const result = await waitUntilConverged({ steady: this.#steady, reader, audit, ...ports });
    this.#convergedAt = Math.min(this.#convergedAt, Date.now());
    return result;
  }

  /** Judges all writes so far. `others`: all other clusters. `wipes`: when the store lost everything. */
  judge(others: readonly ClusterRun[], wipes: readonly number[]): readonly Violation[] {
    const { alwaysReady, pods } = this.#steady;
    const expected = {
      alwaysReady,
      pods,
      namespace: steadyNamespace,
      convergedAt: this.#convergedAt,
      wipes,
      cleanUpMs,
    };
    const violations = [
      ...this.plans.check(
        this.writes,
        others.map(({ plans }) => plans),
      ),
      ...checkSteadyWrites(this.writes, expected),
    ];
    return violations.map((violation) => ({ ...violation, where: `${this.name} ${violation.where}` }));
  }
}
