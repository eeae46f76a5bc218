import {
  BusClosedError,
  type Delivery,
  isLogTruncatedError,
  type PartitionReader,
  readUntilAborted,
} from '@sluice/bus';
import { comparePlans, type PlanId, type PlannedMutations, traceFields } from '@sluice/messages';
import type { Application } from './apply-plan.ts';
import { carryOut } from './carry-out.ts';
import { DonePlans } from './done-plans.ts';
import { failureEvents } from './failure-events.ts';
import { fencedWriter } from './fenced-writer.ts';
import { isGuarded } from './is-guarded.ts';
import { LaneCheckpoint } from './lane-checkpoint.ts';
import type { LaneWorkerOptions } from './lane-worker-options.ts';
import { PlanTrace, type PlanTraceOptions } from './plan-trace.ts';
import { readPlan } from './read-plan.ts';
import { type Handled, reportOutcome } from './report-outcome.ts';
import { retrying } from './retrying.ts';
import { SupersededError } from './sending.ts';
import { turnOf } from './turn.ts';

const plansRead = 128;
const conflict: Application = { status: 'conflict', results: [], failures: [], retries: 0 };

/**
 * Applies the plans of one partition of `mutations`. Plans of different Services run side by side, those of one Service
 * and controller one after the other. The checkpoint is the last offset up to which every plan has its Outcome
 * on the bus, so a crash repeats plans but skips none. Repeating is harmless where every write has a precondition; a plan with
 * one that has none is decided anew instead.
 */
export class LaneWorker {
  readonly #options: LaneWorkerOptions;
  /** An older plan, from an owner that was replaced, is not applied. */
  readonly #done = new DonePlans();
  readonly #checkpoint: LaneCheckpoint;
  /** The newest plan read, of Service and controller with a plan under way. */
  readonly #newest = new Map<string, PlanId>();
  /** The last plan under way per Service and controller. */
  readonly #lines = new Map<string, Promise<void>>();
  readonly #running = new Map<number, Promise<void>>();
  readonly #tracing: PlanTraceOptions | undefined;
  #failure: unknown;
  #reader: PartitionReader | undefined;

  constructor(options: LaneWorkerOptions) {
    this.#options = options;
    this.#checkpoint = new LaneCheckpoint(options, this.#done, (error) => this.#fail(error));
    this.#tracing = options.tracer && { ...options, tracer: options.tracer };
  }

  /** Runs until `signal` aborts, then waits for what is under way. */
  async run(signal: AbortSignal): Promise<void> {
    await this.#checkpoint.restore();
    for (;;) {
      try {
        return await this.#work(signal);
      } catch (error) {
        if (!isLogTruncatedError(error)) throw error;
        await this.#checkpoint.skip(error.message);
      }
    }
  }

  async #work(signal: AbortSignal): Promise<void> {
    const { bus, partition } = this.#options;
    const reader = bus.read('mutations', partition, this.#checkpoint.cursor);
    this.#reader = reader;
    this.#checkpoint.follow(reader);
    try {
      await readUntilAborted(reader, signal, async () => {
        for (;;) {
          await this.#options.turns?.next();
          const records = await reader.next(plansRead);
          if (records.length === 0) return;
          for (const record of records) this.#start(record, signal);
        }
      });
    } finally {
      await Promise.allSettled(this.#running.values());
      await this.#checkpoint.rest();
    }
    if (this.#failure !== undefined) throw this.#failure;
  }

  #start(record: Delivery, signal: AbortSignal): void {
    const { offset } = record;
    this.#checkpoint.begin(offset);
    // What fails unexpectedly stays among the running: the checkpoint does not pass it, and it is done again from there.
    const task = this.#handle(record, signal).catch((error: unknown) => this.#fail(error));
    if (!this.#checkpoint.isFinished(offset)) this.#running.set(offset, task);
  }

  #fail(error: unknown): void {
    if (!(error instanceof BusClosedError)) this.#failure ??= error;
    this.#reader?.close();
  }

  #finish(record: Delivery, plan?: PlanId): void {
    this.#running.delete(record.offset);
    this.#checkpoint.finish(record, plan);
  }

  async #handle(record: Delivery, signal: AbortSignal): Promise<void> {
    const trace = this.#tracing && PlanTrace.of(this.#tracing, record);
    const plan = this.#decode(record);
    if (typeof plan === 'string') {
      await this.#options.onDeadLetter?.(record, plan);
      return this.#finish(record);
    }
    const handled: Handled = { record, plan, trace };
    const { offset } = record;
    if (this.#checkpoint.isDoubtful(offset) || (this.#checkpoint.isInherited(offset) && !isGuarded(plan))) {
      // It may have been applied before, and what it made may have been changed or deleted since. The reconciler decides anew.
      await this.#report(handled, conflict);
      return this.#finish(record, plan.plan);
    }
    const line = `${record.key} ${plan.controller}`;
    // A plan that is delivered again, or that of a new owner, waits for the one that is being applied.
    const before = this.#lines.get(line);
    const turn =
      before === undefined
        ? this.#inTurn(handled, line, signal)
        : before.then(() => this.#inTurn(handled, line, signal));
    this.#lines.set(line, turn);
    const newest = this.#newest.get(line);
    if (newest === undefined || comparePlans(newest, plan.plan) < 0) this.#newest.set(line, plan.plan);
    await turn;
    if (this.#lines.get(line) !== turn) return;
    this.#lines.delete(line);
    this.#newest.delete(line);
  }

  async #inTurn(handled: Handled, line: string, signal: AbortSignal): Promise<void> {
    const { record, plan } = handled;
    if (this.#done.covers(line, plan.plan)) {
      const { key } = record;
      this.#options.logger.debug('plan not applied: it is done, or replaced', {
        key,
        controller: plan.controller,
        ...plan.plan,
      });
      // Applied before, whatever has happened to its objects since must not be undone. Should its Outcome have been lost,
      // or the plan on its way, this one makes the reconciler decide again.
      await this.#report(handled, conflict);
      return this.#finish(record, plan.plan);
    }
    try {
      await this.#apply(handled, line, signal);
    } catch (error) {
      if (!(error instanceof SupersededError)) throw error;
      await this.#report(handled, conflict, error.message);
    }
    this.#done.add(line, plan.plan);
    return this.#finish(record, plan.plan);
  }

  /** The plan, or why there is none in the record. */
  #decode(record: Delivery): PlannedMutations | string {
    try {
      return readPlan(record);
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      this.#options.logger.error('message set aside', { key: record.key, id: record.id, reason });
      return reason;
    }
  }

  async #apply(handled: Handled, line: string, signal: AbortSignal): Promise<void> {
    const { record, plan, trace } = handled;
    const { clock, random, logger, retry } = this.#options;
    const cluster = this.#options.cluster(plan.key.cluster);
    if (cluster === undefined) {
      const reason = `cluster ${plan.key.cluster} is not known`;
      logger.error('message set aside', { key: record.key, id: record.id, reason });
      await this.#options.onDeadLetter?.(record, reason);
      return this.#report(handled, { ...conflict, status: 'rejected' }, reason);
    }
    if (cluster === 'connecting') {
      return this.#report(handled, { ...conflict, status: 'unavailable' }, 'the cluster has not been reached yet');
    }
    const log = logger.with({ key: record.key, controller: plan.controller, ...traceFields(trace?.parent) });
    const applied = await carryOut(plan, {
      cluster,
      writer: fencedWriter(trace?.traced(cluster.writer, cluster.server) ?? cluster.writer, () => this.#isCurrent()),
      lane: this.#options.partition,
      retrying: retrying(retry, { clock, random, logger: log }, signal),
      order: turnOf(plan, clock.now()),
      // What has not begun when the lane is given up is left to its next owner.
      takenBack: () => (signal.aborted ? new BusClosedError('stopped before its turn') : this.#superseded(line, plan)),
      stop: signal,
      requests: this.#options.requests,
    });
    if (signal.aborted && applied.status === 'unavailable') {
      throw new BusClosedError('stopped while the API server was away');
    }
    await this.#report(handled, applied);
    const events = [...plan.events, ...failureEvents(plan, applied)];
    if (events.length > 0) cluster.record(events);
  }

  #superseded(line: string, { plan }: PlannedMutations): SupersededError | undefined {
    const newest = this.#newest.get(line);
    if (newest === undefined || comparePlans(newest, plan) <= 0) return undefined;
    return new SupersededError(`plan ${newest.epoch}/${newest.number} takes its place`);
  }

  #isCurrent(): boolean {
    return this.#options.isCurrent?.() ?? true;
  }

  #report(handled: Handled, applied: Application, message?: string): Promise<void> {
    return reportOutcome(this.#options, handled, applied, message);
  }
}
