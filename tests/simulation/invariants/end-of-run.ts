import type { VirtualClock } from '@sluice/platform';
import { advance } from '@sluice/platform/testing';
import type { InjectedFaults } from '../injected-faults.ts';
import { hasFault, hasLayersOff, type Scenario } from '../scenario.ts';
import type { Violations } from '../violations.ts';
import type { World } from '../world.ts';
import { checkBalance, checkHistories, exists, leftovers } from './at-rest.ts';
import { checkConsole } from './console-history.ts';
import type { Invariants } from './invariants.ts';
import { unknownObject } from './known-objects.ts';
import type { ReplayedLogs } from './replayed-logs.ts';
import { Unfinished } from './unfinished.ts';

/** Time between two checks, in milliseconds. */
const tickMs = 250;
/** How far the clocks of processes were set in all, at most, in milliseconds. */
const clockStepsMs = 300_000;

/** Faults that suspend a process, or its requests. */
const suspending = [
  ...(['freeze', 'pause', 'slow link', 'requests wait', 'freeze at an operation'] as const),
  ...(['commit after the next claim', 'unanswered creates', 'cut off from the bus'] as const),
] as const;

interface EndOfRunOptions {
  readonly scenario: Scenario;
  readonly clock: VirtualClock;
  readonly world: World;
  readonly faults: InjectedFaults;
  readonly invariants: Invariants;
  readonly violations: Violations;
  readonly replayedLogs: ReplayedLogs | undefined;
  /** What holds at any time. */
  readonly checkAlways: () => void;
}

/** What holds once all faults are over and everything written is right: nothing is left, unknown or unfinished. */
export class EndOfRun {
  readonly #options: EndOfRunOptions;
  readonly #unfinished: Unfinished;

  constructor(options: EndOfRunOptions) {
    this.#options = options;
    const { scenario, world, faults, invariants } = options;
    this.#unfinished = new Unfinished({
      log: world.log,
      store: world.store,
      isChunked: scenario.recordBytes !== null,
      // An owner that commits nothing more does not notice that its last commit is lost.
      isIntact: () => !faults.haveLostCommits,
      isKept: () => faults.keepCommits,
      mayAwaitProbe: this.#mayAwaitProbe,
      replaced: invariants.replacedValues,
      // A former owner that was suspended while it sent appends what the next one has published.
      mayLeaveRepeatedPlans:
        scenario.processes !== 'roles' &&
        hasFault(scenario, 'duplicate append', 'message of another version', ...suspending),
    });
  }

  /** `withinMs`: how long the fleet may take to finish what is unfinished. */
  async check(withinMs: number): Promise<void> {
    const { scenario, world, invariants, violations, replayedLogs } = this.#options;
    checkBalance(world.fleet, invariants.observations, scenario.partitions, violations);
    await this.#untilFinished(withinMs);
    checkHistories(invariants.histories, scenario, violations);
    if (violations.all.length > 0) return;
    replayedLogs?.check();
    await checkConsole(world, scenario, violations);
    await invariants.countedWrites.check(world.fleet, violations);
  }

  /** A watcher whose last list failed learns of a deletion only after its backoff. */
  async #untilFinished(withinMs: number): Promise<void> {
    const { clock, world, faults, invariants, violations, checkAlways } = this.#options;
    const until = clock.now() + withinMs;
    for (;;) {
      const now = clock.now();
      const left = leftovers(world.store, world.clusters, this.#mayAwaitProbe);
      const unfinished = this.#unfinished.find(now) ?? invariants.losses.unanswered(this.#partitionOf);
      const unknown =
        left.length === 0 && unfinished === undefined && faults.keepCommits
          ? unknownObject(world.store, world.clusters, invariants.replacedValues)
          : undefined;
      if (left.length === 0 && unfinished === undefined && unknown === undefined) return;
      const [overdue] = left.filter((one) => now >= Math.max(until, one.until === 0 ? 0 : one.until + clockStepsMs));
      if (overdue !== undefined) violations.report('bounded', `${overdue.what}, and the Service is gone`);
      if (now >= until && unfinished !== undefined) violations.report('everything is finished', unfinished);
      if (now >= until && unknown !== undefined) violations.report('objects are known', unknown);
      if (violations.all.length > 0) return;
      await advance(clock, tickMs);
      checkAlways();
      if (violations.all.length > 0) return;
    }
  }

  /**
   * A watcher that never knew a Service does not publish that it is gone. After a loss of its deletion, the state is incomplete until
   * the liveness probe, which takes hours. So is a state of before the deletion: one that was rolled back, if no digests show it, or
   * that a new watcher without snapshots does not correct.
   */
  readonly #mayAwaitProbe = (key: string, snapshot: string): boolean => {
    const { scenario, world, faults } = this.#options;
    if (exists(world.clusters, key)) return false;
    const isRolledBack = faults.haveLostCommits && hasLayersOff(scenario, 'digests');
    if (isRolledBack || hasLayersOff(scenario, 'snapshots')) return true;
    return faults.areLossy && /"complete":false/.test(snapshot);
  };

  readonly #partitionOf = (key: string): number => this.#options.invariants.observations.partitionOf(key);
}
