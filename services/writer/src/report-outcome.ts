import type { Delivery } from '@sluice/bus';
import {
  MessageRecord,
  type Outcome,
  type PlannedMutations,
  partitionOf,
  traceFields,
  traceHeaders,
} from '@sluice/messages';
import { FencedError } from '@sluice/store';
import type { Application } from './apply-plan.ts';
import { failureText } from './failure-events.ts';
import type { LaneWorkerOptions } from './lane-worker-options.ts';
import type { PlanTrace } from './plan-trace.ts';

export interface Handled {
  readonly record: Delivery;
  readonly plan: PlannedMutations;
  readonly trace: PlanTrace | undefined;
}

type Options = Pick<LaneWorkerOptions, 'bus' | 'clock' | 'logger' | 'epoch' | 'isCurrent' | 'onOutcome'>;

/**
 * Tells the reconcilers what became of a plan.
 *
 * @throws FencedError once the lease on the lane has run out
 */
export async function reportOutcome(
  { bus, clock, logger, epoch, isCurrent, onOutcome }: Options,
  { record, plan, trace }: Handled,
  applied: Application,
  message?: string,
): Promise<void> {
  if (isCurrent?.() === false) throw new FencedError('the lease has run out; the Outcome is not told');
  const outcome = { ...toOutcome(plan, applied, clock.now()), ...(message !== undefined && { message }) };
  // Another owner may have something else to tell of the same plan, which the bus must not take for the same record.
  const id = `${record.id}/outcome/${epoch}`;
  const partition = partitionOf(record.key, bus.partitions);
  const ended = trace?.ended(plan, outcome, partition, id);
  await bus.append('changes', partition, [
    new MessageRecord({ key: record.key, id, headers: traceHeaders(ended?.place) }, outcome),
  ]);
  ended?.published();
  onOutcome?.(plan, outcome);
  if (applied.status === 'applied') return;
  // B6: what is tried again is no warning, and of Endpoints an Event tells already.
  const { status } = applied;
  const level = status === 'rejected' ? 'warn' : plan.controller === 'endpoints' ? 'debug' : 'info';
  const reason = applied.message ?? failureText(plan, applied);
  const { controller } = plan;
  logger[level]('plan not applied', { key: record.key, controller, status, reason, ...traceFields(trace?.parent) });
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
