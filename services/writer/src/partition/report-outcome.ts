import { type Delivery, recordId } from '@sluice/bus';
import { endpointsWriter } from '@sluice/controllers';
import { type Outcome, type PlannedMutations, partitionOf, traceFields, traceHeaders } from '@sluice/messages';
import type { Logger } from '@sluice/runtime';
import { FencedError } from '@sluice/store';
import type { ApplyResult } from '../apply/apply-mutations.ts';
import { failureText } from './failure-events.ts';
import { outcomeRecord } from './outcome-record.ts';
import type { PlanPartitionWorkerOptions } from './plan-partition-worker-options.ts';
import type { PlanTrace } from './plan-trace.ts';

export interface ReceivedPlan {
  readonly record: Delivery;
  readonly plan: PlannedMutations;
  readonly trace: PlanTrace | undefined;
}

type Options = Pick<
  PlanPartitionWorkerOptions,
  'bus' | 'clock' | 'logger' | 'fencingToken' | 'isCurrent' | 'onOutcome'
>;

/**
 * Publishes the Outcome of a plan to the reconcilers. Resolves once a reconciler of this process has it, or else the log; `stored`
 * resolves once the log has it.
 *
 * @throws FencedError if the lease on the partition has expired
 */
export async function reportOutcome(
  { bus, clock, logger, fencingToken, isCurrent, onOutcome }: Options,
  { record, plan, trace }: ReceivedPlan,
  applied: ApplyResult,
): Promise<{ readonly stored: Promise<unknown> }> {
  let notStored: { readonly cause: unknown } | undefined;
  record.stored?.catch((cause: unknown) => {
    notStored = { cause };
  });
  const assertCurrent = () => {
    // Where there is an Outcome in the log, there is a plan.
    if (notStored !== undefined) throw notStored.cause;
    if (isCurrent?.() !== false) return;
    // Reachable: lease expired before an Outcome was published
    throw new FencedError('lease expired; Outcome not published');
  };
  assertCurrent();
  const outcome = toOutcome(plan, applied, clock.now());
  // A new owner may report another Outcome for the same plan. The token keeps the bus from dropping it as a duplicate.
  const id = recordId(record.id, 'outcome', fencingToken);
  const partition = partitionOf(record.key, bus.partitions);
  const ended = trace?.ended(plan, outcome, partition, id);
  const head = { key: record.key, id, headers: traceHeaders(ended?.place) };
  const records = [outcomeRecord(head, outcome, bus.limits)];
  let stored = bus.deliver?.('changes', partition, records, assertCurrent);
  if (stored === undefined) {
    bus.flush?.(partition);
    await record.stored;
    assertCurrent();
    stored = bus.append('changes', partition, records);
    await stored;
  }
  ended?.published();
  onOutcome?.(plan, outcome);
  if (applied.status !== 'applied') logFailure(logger, plan, record, applied, trace);
  return { stored };
}

function logFailure(
  logger: Logger,
  plan: PlannedMutations,
  { key }: Delivery,
  applied: ApplyResult,
  trace: PlanTrace | undefined,
): void {
  // A failure that is retried is no warning, and for Endpoints an Event reports it already (B6).
  const { status } = applied;
  const level = status === 'rejected' ? 'warn' : plan.controller === endpointsWriter ? 'debug' : 'info';
  const reason = applied.message ?? failureText(plan, applied);
  const { controller } = plan;
  logger[level]('plan not applied', { key, controller, status, reason, ...traceFields(trace?.parent) });
}

function toOutcome(plan: PlannedMutations, applied: ApplyResult, completedAt: number): Outcome {
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
    retries: applied.retries ?? 0,
    ...(applied.retryAfterMs && { retryAfterMs: applied.retryAfterMs }),
    ...(applied.cooldownMs && { cooldownMs: applied.cooldownMs }),
  };
}
