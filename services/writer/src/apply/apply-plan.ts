import {
  type ClusterWriter,
  chainWriter,
  checkRequests,
  isApiError,
  type Middleware,
  type RequestCheck,
} from '@sluice/kubernetes';
import type { PlannedMutations } from '@sluice/messages';
import type { Controller } from '@sluice/model';
import { backoffMs, type Clock, type Logger, type Random, sleep } from '@sluice/platform';
import { mayWrite } from '../may-write.ts';
import type { RetryOptions } from '../partition/plan-partition-worker-options.ts';
import type { RequestLimit } from '../scheduling/request-limit.ts';
import type { WritableCluster } from '../writable-cluster.ts';
import { type ApplyResult, applyMutations } from './apply-mutations.ts';
import { findCompetingWrite } from './find-competing-write.ts';

interface ApplyPlanOptions {
  readonly cluster: Pick<WritableCluster, 'massChangeGuards' | 'competingControllers'>;
  readonly requests: PlanRequests;
  readonly partition: number;
  readonly requestSignal: AbortSignal;
}

/** Applies a plan, unless the cluster must confirm it and does not. */
export async function applyPlan(
  plan: PlannedMutations,
  { cluster, requests, partition, requestSignal }: ApplyPlanOptions,
): Promise<ApplyResult> {
  const { massChangeGuards, competingControllers } = cluster;
  const options = { massChangeGuards, partition, reads: () => requests.ownIdentity(), signal: requestSignal };
  const confirming = mayWrite.cluster.refuse(plan, options);
  // A plan that needs no confirmation takes its slot before a newer one can replace it.
  const heldBack = confirming === undefined ? undefined : await confirming;
  if (heldBack !== undefined) return heldBack;
  if (plan.consecutiveRepairs !== undefined && competingControllers !== undefined) {
    const write = await findCompetingWrite(plan, requests.once(), competingControllers.ownManager, requestSignal);
    if (write !== undefined) competingControllers.onCompetingWrite(plan, write);
  }
  const result = await applyMutations(plan, requests.retried, requestSignal);
  if (result.status === 'conflict' && competingControllers?.investigatesConflict?.() === true) {
    const write = await findCompetingWrite(plan, requests.once(), competingControllers.ownManager, requestSignal);
    if (write?.manager !== undefined) competingControllers.onConflict?.(plan, write);
  }
  return result;
}

interface PlanRequestsOptions extends ScheduleOptions {
  /** The cluster's writer. */
  readonly writer: ClusterWriter;
  /** The controller that decided the plan. */
  readonly controller: Controller;
  /** Bounds the concurrent requests of the controller. Default: only `limit` does. */
  readonly controllerLimit?: RequestLimit | undefined;
  readonly retry: RetryOptions & RetryPorts;
  readonly checks: readonly RequestCheck[];
  /** Observe each attempt that got a slot, also one that the checks refuse. */
  readonly observers: readonly Middleware[];
}

/** The ways to send the requests of one plan. */
export interface PlanRequests {
  readonly retried: ClusterWriter;
  /** With the writer's own identity, for reads that a controller is not permitted. */
  ownIdentity(): ClusterWriter;
  /** For reads that are not worth a retry. */
  once(): ClusterWriter;
}

/**
 * Puts the middleware of one plan around the cluster's writer. Each attempt waits for a slot of its own, and is checked
 * after the wait.
 */
export function planRequests({
  writer,
  controller,
  controllerLimit,
  retry,
  checks,
  observers,
  ...schedule
}: PlanRequestsOptions): PlanRequests {
  const { priority, stop } = schedule;
  const slot: Middleware[] =
    controllerLimit === undefined ? [] : [(request, next) => controllerLimit.run(priority, () => next(request), stop)];
  const attempt = [...slot, scheduleRequests(schedule), ...observers, checkRequests(checks)];
  const retrying = retryTransientErrors(retry, schedule.stop);
  const ofController = writer.forController?.(controller) ?? writer;
  return {
    retried: chainWriter(ofController, retrying, ...attempt),
    ownIdentity: () => chainWriter(writer, retrying, ...attempt),
    once: () => chainWriter(ofController, ...attempt),
  };
}

interface ScheduleOptions {
  readonly limit: RequestLimit;
  readonly priority: number;
  /** Returns an error if the plan must not be sent. Called only until the plan has started. */
  readonly withdrawn: () => Error | undefined;
  /** Called as soon as a request has its slot. */
  readonly onSend: () => void;
  /** Aborts the wait of a plan that has not started. A started plan waits until `requestSignal` aborts. */
  readonly stop: AbortSignal;
  readonly requestSignal: AbortSignal;
}

/**
 * Sends the requests of one plan through the limit. A plan can be withdrawn while nothing of it can have been stored:
 * no write was sent, or all were rejected with 429. From then on it is completed.
 */
function scheduleRequests({ limit, priority, withdrawn, onSend, stop, requestSignal }: ScheduleOptions): Middleware {
  let writesInFlight = 0;
  let isStored = false;
  const hasStarted = () => isStored || writesInFlight > 0;
  return (request, next) => {
    const send = async () => {
      const error = hasStarted() ? undefined : withdrawn();
      if (error !== undefined) throw error;
      onSend();
      if (request.verb === 'get') return next(request);
      writesInFlight++;
      try {
        const response = await next(request);
        isStored = true;
        return response;
      } catch (error) {
        // After any other failure the write may or may not have been stored.
        if (!isApiError(error) || error.status !== 429) isStored = true;
        throw error;
      } finally {
        writesInFlight--;
      }
    };
    return limit.run(priority, send, hasStarted() ? requestSignal : stop);
  };
}

interface RetryPorts {
  readonly clock: Clock;
  readonly random: Random;
  /** Called once a request has failed: most plans need no logger of their own. */
  readonly logger: () => Logger;
  /** Whether the limit of all retries permits one now. Default: no limit. */
  readonly mayRetry?: (() => boolean) | undefined;
  /** Called before each retry. */
  readonly onRetry: () => void;
}

export const defaultRetry: RetryOptions = { backoff: { baseMs: 100, maxMs: 10_000 }, attempts: 4 };

/**
 * Retries requests that failed with a transient error (429, 5xx, connection error) with jittered exponential backoff,
 * waiting at least as long as Retry-After asks.
 */
export function retryTransientErrors(options: RetryOptions & RetryPorts, signal: AbortSignal): Middleware {
  const { attempts, backoff, clock, random, logger, mayRetry, onRetry } = options;
  return async (request, next) => {
    for (let attempt = 0; ; attempt++) {
      try {
        return await next(request);
      } catch (error) {
        // The partition was given up: the next owner applies the plan.
        if (signal.aborted) throw error;
        if (!isApiError(error) || error.kind !== 'retry' || attempt + 1 >= attempts) throw error;
        if (mayRetry?.() === false) throw error;
        // Reachable: write retried
        const delayMs = Math.max(backoffMs(backoff, attempt, random), error.retryAfterMs ?? 0);
        logger().warn('write failed; retrying', {
          attempt: attempt + 1,
          retryIn: `${Math.round(delayMs)}ms`,
          status: error.status,
          reason: error.reason,
        });
        await sleep(clock, delayMs, signal);
        if (signal.aborted) throw error;
        onRetry();
      }
    }
  };
}
