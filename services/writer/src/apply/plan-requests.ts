import { type ClusterWriter, chainWriter, checkRequests, type Middleware, type RequestCheck } from '@sluice/kubernetes';
import type { Controller } from '@sluice/model';
import { type RetryOptions, type RetryPorts, retryTransientErrors } from './retry.ts';
import { type RequestLimit, type ScheduleOptions, scheduleRequests } from './schedule-requests.ts';

export interface PlanRequestsOptions extends ScheduleOptions {
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
