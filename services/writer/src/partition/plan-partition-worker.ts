import {
  BusClosedError,
  type Delivery,
  isLogTruncatedError,
  type PartitionReader,
  readUntilAborted,
} from '@sluice/bus';
import type { RequestCheck } from '@sluice/kubernetes';
import { comparePlans, type PlanId, type PlannedMutations, traceFields } from '@sluice/messages';
import { errorMessage, sleep } from '@sluice/platform';
import { FencedError, isFencedError } from '@sluice/store';
import type { ApplyResult } from '../apply/apply-mutations.ts';
import { applyPlan, planRequests } from '../apply/apply-plan.ts';
import { PlanFence, readPlan } from '../fencing/plan-fence.ts';
import { mayWrite, refusePlan, requestChecks, SupersededError } from '../may-write.ts';
import { saturationCooldownMs, writePriority } from '../scheduling/request-limit.ts';
import type { WritableCluster } from '../writable-cluster.ts';
import { PlanCheckpoint } from './plan-checkpoint.ts';
import type { PlanPartitionWorkerOptions } from './plan-partition-worker-options.ts';
import { PlanTrace, type PlanTraceOptions } from './plan-trace.ts';
import { failureEvents, type ReceivedPlan, reportOutcome } from './report-outcome.ts';

const batchSize = 128;

interface HandledRecord {
  /** Undefined if the record contains none. */
  readonly plan?: PlanId;
  /** Resolves once the log has the Outcome. */
  readonly stored?: Promise<unknown>;
}
/**
 * Applies the plans of one partition of topic `mutations`. Plans with the same work key (Service and controller) run
 * one at a time; all others run concurrently. The checkpoint is the last offset up to which every plan has its Outcome
 * on the bus, so a crash repeats plans but skips none. Repeating a plan is safe if every write has a precondition; a
 * plan that lacks one is returned to the reconciler as a conflict.
 */
export class PlanPartitionWorker {
  readonly #options: PlanPartitionWorkerOptions;
  /** Rejects plans that were applied or superseded before. */
  readonly #fence = new PlanFence();
  readonly #checkpoint: PlanCheckpoint;
  /** Newest plan read per work key, while a plan of that key is in flight. */
  readonly #newestPlans = new Map<string, PlanId>();
  /** The last plan queued per work key. The next one waits for it. */
  readonly #tails = new Map<string, { readonly plan: PlanId; readonly handled: Promise<HandledRecord> }>();
  readonly #running = new Map<number, Promise<void>>();
  readonly #tracing: PlanTraceOptions | undefined;
  readonly #lease: RequestCheck = {
    assert: () => {
      const { isCurrent = () => true } = this.#options;
      if (!isCurrent()) throw new FencedError('lease expired; request not sent');
    },
  };
  #requestSignal: AbortSignal;
  #error: unknown;
  #reader: PartitionReader | undefined;

  constructor(options: PlanPartitionWorkerOptions) {
    this.#options = options;
    this.#requestSignal = options.requestSignal;
    this.#checkpoint = new PlanCheckpoint(options, this.#fence, (error) => this.#fail(error));
    this.#tracing = options.tracer && { ...options, tracer: options.tracer };
  }

  /** Runs until `signal` aborts, then waits for the work in flight. */
  async run(signal: AbortSignal): Promise<void> {
    await this.#checkpoint.restore();
    for (;;) {
      try {
        return await this.#work(signal);
      } catch (error) {
        if (this.#error !== undefined) throw this.#error;
        if (!isLogTruncatedError(error)) throw error;
        // Reachable: plan log truncated
        this.#options.logger.warn('plan log truncated; skipping to the end of the partition', {
          reason: error.message,
        });
        await this.#checkpoint.skipToEnd();
      }
    }
  }

  async #work(signal: AbortSignal): Promise<void> {
    const { bus, partition } = this.#options;
    const drain = new AbortController();
    const stop = AbortSignal.any([signal, drain.signal]);
    this.#requestSignal = AbortSignal.any([this.#options.requestSignal, drain.signal]);
    const reader = bus.read('mutations', partition, this.#checkpoint.committed);
    this.#reader = reader;
    this.#checkpoint.attach(reader);
    try {
      await readUntilAborted(reader, signal, async () => {
        for (;;) {
          await this.#options.yieldQueue?.next();
          const records = await reader.next(batchSize);
          if (records.length === 0) return;
          for (const record of records) this.#start(record, stop);
        }
      });
    } finally {
      await this.#drained(drain);
      await this.#checkpoint.reset();
    }
    if (this.#error !== undefined) throw this.#error;
  }

  /** Waits for the work in flight. Requests that take too long are repeated by the next owner, or by this one. */
  async #drained(drain: AbortController): Promise<void> {
    const { clock, drainMs } = this.#options;
    const done = new AbortController();
    if (drainMs !== undefined) void sleep(clock, drainMs, done.signal).then(() => drain.abort());
    await Promise.allSettled(this.#running.values());
    done.abort();
  }

  #start(record: Delivery, signal: AbortSignal): void {
    const { offset } = record;
    this.#checkpoint.started(offset);
    // A record that fails unexpectedly stays in `#running`, so the checkpoint does not pass it and it is read again.
    const task = this.#finish(record, this.#handle(record, signal)).catch((error: unknown) => this.#fail(error));
    if (!this.#checkpoint.isFinished(offset)) this.#running.set(offset, task);
  }

  #fail(error: unknown): void {
    if (!(error instanceof BusClosedError)) this.#error ??= error;
    this.#reader?.close();
  }

  /** Until the log has the plan at its offset, and its Outcome, the checkpoint stays before it. */
  async #finish(record: Delivery, handling: Promise<HandledRecord>): Promise<void> {
    const { plan, stored } = await handling;
    await Promise.all([record.stored, stored]);
    this.#running.delete(record.offset);
    this.#checkpoint.finished(record, plan);
  }

  /** Resolves when the next plan with the same work key may start. */
  async #handle(record: Delivery, signal: AbortSignal): Promise<HandledRecord> {
    const trace = this.#tracing && PlanTrace.of(this.#tracing, record);
    const plan = this.#decode(record);
    if (typeof plan === 'string') {
      // Reachable: record dead-lettered by a writer
      await this.#deadLetter(record, plan);
      return {};
    }
    const received: ReceivedPlan = { record, plan, trace };
    const workKey = `${record.key} ${plan.controller}`;
    const predecessor = this.#tails.get(workKey);
    if (predecessor !== undefined && comparePlans(predecessor.plan, plan.plan) === 0) {
      // Reachable: plan redelivered while it is being applied
      return predecessor.handled;
    }
    // A plan of a new owner waits for the plan that is being applied.
    const handled =
      predecessor === undefined
        ? this.#process(received, workKey, signal)
        : predecessor.handled.then(() => this.#process(received, workKey, signal));
    this.#tails.set(workKey, { plan: plan.plan, handled });
    const newest = this.#newestPlans.get(workKey);
    if (newest === undefined || comparePlans(newest, plan.plan) < 0) this.#newestPlans.set(workKey, plan.plan);
    const result = await handled;
    if (this.#tails.get(workKey)?.handled === handled) {
      this.#tails.delete(workKey);
      this.#newestPlans.delete(workKey);
    }
    return result;
  }

  async #process(received: ReceivedPlan, workKey: string, signal: AbortSignal): Promise<HandledRecord> {
    const { record, plan } = received;
    const cluster = this.#options.cluster(plan.key.cluster);
    const [checkpoint, fence] = [this.#checkpoint, this.#fence];
    const refused = refusePlan({ plan, offset: record.offset, workKey, checkpoint, fence, cluster });
    if (refused?.isDeadLetter) await this.#deadLetter(record, refused.message);
    const handled =
      refused === undefined
        ? // The checks passed, so it is connected.
          await this.#apply(received, cluster as WritableCluster, workKey, signal).catch((error: unknown) => {
            if (!(error instanceof SupersededError)) throw error;
            // Reachable: plan superseded before it started
            return this.#report(received, { status: 'conflict', results: [], failures: [], message: error.message });
          })
        : await this.#report(received, refused);
    fence.complete(workKey, plan.plan);
    return handled;
  }

  async #deadLetter(record: Delivery, reason: string): Promise<void> {
    this.#options.logger.error('record dead-lettered', { key: record.key, id: record.id, reason });
    await this.#options.onDeadLetter?.(record, reason);
  }

  /** Returns the plan, or why the record contains none. */
  #decode(record: Delivery): PlannedMutations | string {
    try {
      return readPlan(record);
    } catch (error) {
      return errorMessage(error);
    }
  }

  async #apply(
    received: ReceivedPlan,
    cluster: WritableCluster,
    workKey: string,
    signal: AbortSignal,
  ): Promise<HandledRecord> {
    const { record, plan, trace } = received;
    const { clock, random, logger, retry, partition } = this.#options;
    const requestSignal = this.#requestSignal;
    const { retryLimit } = cluster;
    let retries = 0;
    let startedAt: number | undefined;
    const requests = planRequests({
      writer: cluster.writer,
      controller: plan.controller,
      retry: {
        ...retry,
        clock,
        random,
        logger: () => logger.with({ key: record.key, controller: plan.controller, ...traceFields(trace?.parent) }),
        mayRetry: retryLimit && (() => retryLimit.tryAcquire()),
        onRetry: () => retries++,
      },
      limit: cluster.limit,
      controllerLimit: cluster.controllerLimits?.[plan.controller],
      priority: writePriority(plan, clock.now()),
      // Plans that have not started when the partition is handed over are left to its next owner.
      withdrawn: () =>
        signal.aborted
          ? new BusClosedError('stopped before the plan started')
          : mayWrite.slot.refuse(plan.plan, this.#newestPlans.get(workKey)),
      onSend: () => {
        startedAt ??= clock.now();
      },
      stop: signal,
      requestSignal,
      checks: requestChecks({ ...cluster.checks, lease: this.#lease }),
      observers: [trace?.traceRequests(cluster.server), cluster.observe].filter((one) => one !== undefined),
    });
    const result = await applyPlan(plan, { cluster, requests, partition, requestSignal }).catch((error: unknown) =>
      this.#failedUnexpectedly(received, error),
    );
    if (signal.aborted && result.status === 'unavailable') {
      throw new BusClosedError('stopped while the API server was unavailable');
    }
    const isRetried = result.status === 'conflict' || result.status === 'unavailable';
    const retryAfterMs = isRetried ? (retryLimit?.reserve() ?? 0) : 0;
    const cooldownMs = saturationCooldownMs(plan, cluster.limit.excessMs ?? 0);
    const handled = await this.#report(received, { ...result, startedAt, retries, retryAfterMs, cooldownMs });
    const events = [...plan.events, ...failureEvents(plan, result)];
    if (events.length > 0) cluster.record(events);
    return handled;
  }

  /** A plan that nothing can apply is parked; its neighbours continue. */
  #failedUnexpectedly({ record }: ReceivedPlan, error: unknown): ApplyResult {
    const isExpected = isFencedError(error) || error instanceof BusClosedError || error instanceof SupersededError;
    if (isExpected) throw error;
    this.#options.logger.error('plan failed unexpectedly', { key: record.key, id: record.id, error });
    return { status: 'rejected', results: [], failures: [], message: `internal error: ${errorMessage(error)}` };
  }

  async #report(received: ReceivedPlan, applied: ApplyResult): Promise<HandledRecord> {
    const { stored } = await reportOutcome(this.#options, received, applied);
    return { plan: received.plan.plan, stored };
  }
}
