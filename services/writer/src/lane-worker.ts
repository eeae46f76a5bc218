import {
  type Bus,
  BusClosedError,
  type Cursor,
  type Delivery,
  isLogLostError,
  origin,
  type PartitionReader,
  readUntilAborted,
} from '@sluice/bus';
import {
  comparePlans,
  MessageRecord,
  type Outcome,
  type PlanId,
  type PlannedMutations,
  partitionOf,
  traceFields,
  traceHeaders,
} from '@sluice/messages';
import type { Clock, Logger, Random, Turns } from '@sluice/runtime';
import { FencedError, type Store } from '@sluice/store';
import type { Tracer } from '@sluice/telemetry';
import type { Application } from './apply-plan.ts';
import { carryOut } from './carry-out.ts';
import { DonePlans } from './done-plans.ts';
import { failureEvents, failureText } from './failure-events.ts';
import { fencedWriter } from './fenced-writer.ts';
import { PlanTrace, type PlanTraceOptions } from './plan-trace.ts';
import { readPlan } from './read-plan.ts';
import { type RetryOptions, retrying } from './retrying.ts';
import { SupersededError } from './sending.ts';
import { turnOf } from './turn.ts';
import type { WritableCluster } from './writable-cluster.ts';

export interface LaneWorkerOptions {
  readonly partition: number;
  readonly epoch: number;
  /** False once the lease on the lane has run out; then nothing is sent and nothing reported. Default: it never does. */
  readonly isCurrent?: () => boolean;
  readonly bus: Bus;
  readonly store: Store;
  /**
   * The cluster of that identity; undefined if this fleet does not have it, `connecting` while that is not known, since
   * some cluster has not been reached yet.
   */
  readonly cluster: (identity: string) => WritableCluster | 'connecting' | undefined;
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
  /** Shared by all that a process computes. Default: each lane goes on as soon as it can. */
  readonly turns?: Turns | undefined;
  /** Default: nothing is traced. */
  readonly tracer?: Tracer | undefined;
  readonly retry: RetryOptions;
  /** Aborts requests that are under way; until then a worker that was told to stop waits for them. */
  readonly requests: AbortSignal;
  /** Called when a plan has its Outcome on the bus. */
  readonly onOutcome?: (plan: PlannedMutations, outcome: Outcome) => void;
  /** Told up to where the lane is done with, at the start and whenever that moves. */
  readonly onCheckpoint?: (position: number, partition: number) => void;
  /** Keeps a record aside that cannot be used; awaited before the checkpoint passes it. */
  readonly onDeadLetter?: (record: Delivery, reason: string) => unknown;
}

interface Finished {
  /** Of the record. */
  readonly id: string;
  readonly plan: PlanId | undefined;
}

const plansRead = 128;
const conflict: Application = { status: 'conflict', results: [], failures: [], retries: 0 };

/**
 * Applies the plans of one partition of `mutations`. Plans of different Services run side by side, those of one Service
 * and controller one after the other. The checkpoint is the last position up to which every plan has its Outcome
 * on the bus, so a crash repeats plans but skips none; repeating is harmless, since every write has a precondition.
 */
export class LaneWorker {
  readonly #options: LaneWorkerOptions;
  readonly #scope: string;
  /** An older plan, from an owner that was replaced, is not applied. */
  readonly #done = new DonePlans();
  /** The newest plan read, of Service and controller with a plan under way. */
  readonly #newest = new Map<string, PlanId>();
  /** The last plan under way per Service and controller. */
  readonly #lines = new Map<string, Promise<void>>();
  readonly #running = new Map<number, Promise<void>>();
  readonly #finished = new Map<number, Finished>();
  /** Positions that the checkpoint has not passed, in order. */
  readonly #ahead = new Set<number>();
  /** Up to here nobody knows what was applied. */
  #doubtfulUpTo = 0;
  #checkpoint: Cursor = origin;
  /** Of the plans that are being handled, by position. */
  readonly #traces = new Map<number, PlanTrace>();
  readonly #tracing: PlanTraceOptions | undefined;
  #committing: Promise<void> | undefined;
  #failure: unknown;
  #reader: PartitionReader | undefined;

  constructor(options: LaneWorkerOptions) {
    this.#options = options;
    this.#scope = `writer/${options.partition}`;
    this.#tracing = options.tracer && { ...options, tracer: options.tracer };
  }

  /** Runs until `signal` aborts, then waits for what is under way. */
  async run(signal: AbortSignal): Promise<void> {
    await this.#restore();
    for (;;) {
      try {
        return await this.#work(signal);
      } catch (error) {
        if (!isLogLostError(error)) throw error;
        await this.#skip(error.message);
      }
    }
  }

  async #restore(): Promise<void> {
    const { bus, partition, store, epoch, logger } = this.#options;
    const state = await store.claim(this.#scope, epoch);
    this.#done.load(state.entries);
    this.#reach(state.checkpoint ?? origin);
    if (state.checkpoint === null) return this.#skip('the store knows nothing of it');
    if (state.intact) return;
    const end = await bus.end('mutations', partition);
    this.#doubtfulUpTo = end.position;
    logger.warn('the store may have lost what was applied; plans up to the end of the lane are decided anew', {
      plans: end.position - this.#checkpoint.position,
    });
  }

  /** Goes on at the end of the lane. Reconcilers ask again for the Outcomes of the plans that are passed over. */
  async #skip(reason: string): Promise<void> {
    const { bus, partition, store, epoch, logger } = this.#options;
    const end = await bus.end('mutations', partition);
    logger.warn('going on at the end of the lane', { reason });
    const expected = this.#checkpoint.position;
    await store.commit({
      scope: this.#scope,
      epoch,
      expected,
      checkpoint: end,
      entries: [],
    });
    this.#reach(end);
    // What comes now was decided after the loss; in a lane that is made anew, its positions may be low.
    this.#doubtfulUpTo = 0;
  }

  #reach(checkpoint: Cursor): void {
    this.#checkpoint = checkpoint;
    this.#options.onCheckpoint?.(checkpoint.position, this.#options.partition);
  }

  async #work(signal: AbortSignal): Promise<void> {
    const { bus, partition } = this.#options;
    const reader = bus.read('mutations', partition, this.#checkpoint);
    this.#reader = reader;
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
      await this.#committing;
      this.#finished.clear();
      this.#traces.clear();
      this.#ahead.clear();
    }
    if (this.#failure !== undefined) throw this.#failure;
  }

  #start(record: Delivery, signal: AbortSignal): void {
    this.#ahead.add(record.position);
    // What fails unexpectedly stays among the running: the checkpoint does not pass it, and it is done again from there.
    const task = this.#handle(record, signal).catch((error: unknown) => this.#fail(error));
    if (!this.#finished.has(record.position)) this.#running.set(record.position, task);
  }

  #fail(error: unknown): void {
    if (!(error instanceof BusClosedError)) this.#failure ??= error;
    this.#reader?.close();
  }

  async #handle(record: Delivery, signal: AbortSignal): Promise<void> {
    this.#trace(record);
    const plan = this.#decode(record);
    if (typeof plan === 'string') {
      await this.#options.onDeadLetter?.(record, plan);
      return this.#finish(record);
    }
    if (record.position <= this.#doubtfulUpTo) {
      // It may have been applied before; what the store knew of that was lost. The reconciler decides anew.
      await this.#report(record, plan, conflict);
      return this.#finish(record, plan.plan);
    }
    const line = `${record.key} ${plan.controller}`;
    // A plan that is delivered again, or that of a new owner, waits for the one that is being applied.
    const before = this.#lines.get(line);
    const turn =
      before === undefined
        ? this.#inTurn(record, plan, line, signal)
        : before.then(() => this.#inTurn(record, plan, line, signal));
    this.#lines.set(line, turn);
    const newest = this.#newest.get(line);
    if (newest === undefined || comparePlans(newest, plan.plan) < 0) this.#newest.set(line, plan.plan);
    await turn;
    if (this.#lines.get(line) !== turn) return;
    this.#lines.delete(line);
    this.#newest.delete(line);
  }

  #trace(record: Delivery): void {
    const trace = this.#tracing && PlanTrace.of(this.#tracing, record);
    if (trace !== undefined) this.#traces.set(record.position, trace);
  }

  async #inTurn(record: Delivery, plan: PlannedMutations, line: string, signal: AbortSignal): Promise<void> {
    if (this.#done.covers(line, plan.plan)) {
      const { key } = record;
      this.#options.logger.debug('plan not applied: it is done, or replaced', {
        key,
        controller: plan.controller,
        ...plan.plan,
      });
      // Applied before, whatever has happened to its objects since must not be undone. Should its Outcome have been lost,
      // or the plan on its way, this one makes the reconciler decide again.
      await this.#report(record, plan, conflict);
      return this.#finish(record, plan.plan);
    }
    try {
      await this.#apply(record, plan, line, signal);
    } catch (error) {
      if (!(error instanceof SupersededError)) throw error;
      await this.#report(record, plan, conflict, error.message);
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

  async #apply(record: Delivery, plan: PlannedMutations, line: string, signal: AbortSignal): Promise<void> {
    const { clock, random, logger, retry } = this.#options;
    const cluster = this.#options.cluster(plan.key.cluster);
    if (cluster === undefined) {
      const reason = `cluster ${plan.key.cluster} is not known`;
      logger.error('message set aside', { key: record.key, id: record.id, reason });
      await this.#options.onDeadLetter?.(record, reason);
      return this.#report(record, plan, { ...conflict, status: 'rejected' }, reason);
    }
    if (cluster === 'connecting') {
      return this.#report(record, plan, { ...conflict, status: 'unavailable' }, 'the cluster has not been reached yet');
    }
    const trace = this.#traces.get(record.position);
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
    await this.#report(record, plan, applied);
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

  async #report(record: Delivery, plan: PlannedMutations, applied: Application, message?: string): Promise<void> {
    const { bus, clock, epoch, onOutcome } = this.#options;
    if (!this.#isCurrent()) throw new FencedError('the lease has run out; the Outcome is not told');
    const outcome = { ...toOutcome(plan, applied, clock.now()), ...(message !== undefined && { message }) };
    // Another owner may have something else to tell of the same plan, which the bus must not take for the same record.
    const id = `${record.id}/outcome/${epoch}`;
    const partition = partitionOf(record.key, bus.partitions);
    const trace = this.#traces.get(record.position)?.ended(plan, outcome, partition, id);
    await bus.append('changes', partition, [
      new MessageRecord({ key: record.key, id, headers: traceHeaders(trace?.place) }, outcome),
    ]);
    trace?.published();
    onOutcome?.(plan, outcome);
    if (applied.status !== 'applied') this.#logFailure(record, plan, applied);
  }

  /** B6: what is tried again is no warning, and of Endpoints an Event tells already. */
  #logFailure(record: Delivery, plan: PlannedMutations, applied: Application): void {
    const { logger } = this.#options;
    const trace = traceFields(this.#traces.get(record.position)?.parent);
    const { status } = applied;
    const reason = applied.message ?? failureText(plan, applied);
    const fields = { key: record.key, controller: plan.controller, status, reason, ...trace };
    if (status === 'rejected') logger.warn('plan not applied', fields);
    else if (plan.controller === 'endpoints') logger.debug('plan not applied', fields);
    else logger.info('plan not applied', fields);
  }

  /** Notes that a position needs nothing more, and moves the checkpoint as far as there is no gap. */
  #finish({ position, id }: Delivery, plan?: PlanId): void {
    this.#traces.delete(position);
    this.#finished.set(position, { id, plan });
    this.#running.delete(position);
    this.#committing ??= this.#commit()
      .catch((error: unknown) => this.#fail(error))
      .finally(() => {
        this.#committing = undefined;
      });
  }

  async #commit(): Promise<void> {
    // Whatever else finishes in this turn goes into the same commit.
    await Promise.resolve();
    for (;;) {
      const done = this.#leading();
      const last = done.at(-1);
      if (last === undefined || last[0] <= this.#checkpoint.position) return;
      // The first commit makes the store's state intact again; until then a successor must doubt the same plans.
      if (last[0] < this.#doubtfulUpTo) return;
      const checkpoint = { position: last[0], id: last[1].id, log: this.#reader?.log ?? '' };
      const { store, epoch } = this.#options;
      const entries = this.#done.pass(done.flatMap(([, { plan }]) => plan ?? []));
      await store.commit({
        scope: this.#scope,
        epoch,
        expected: this.#checkpoint.position,
        checkpoint,
        entries,
      });
      this.#reach(checkpoint);
      this.#reader?.release(checkpoint.position);
      for (const [position] of done) {
        this.#finished.delete(position);
        this.#ahead.delete(position);
      }
    }
  }

  /** Those that are done with up to the first that is not. A plan for a cluster that is away may hold up many others. */
  #leading(): readonly (readonly [number, Finished])[] {
    const done: [number, Finished][] = [];
    for (const position of this.#ahead) {
      const finished = this.#finished.get(position);
      if (finished === undefined) break;
      done.push([position, finished]);
    }
    return done;
  }
}

function toOutcome(plan: PlannedMutations, applied: Application, completedAt: number): Outcome {
  return {
    kind: 'outcome',
    key: plan.key,
    controller: plan.controller,
    plan: plan.plan,
    status: applied.status,
    results: applied.results,
    message: applied.message ?? applied.failures.map(({ message }) => message).join('; '),
    causes: plan.causes,
    decidedAt: plan.decidedAt,
    completedAt,
    retries: applied.retries,
  };
}
