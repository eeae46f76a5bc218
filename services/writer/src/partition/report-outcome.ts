import { type BusLimits, type Delivery, recordId } from '@sluice/bus';
import { descriptorOf, endpointsWriter, type FailedPlan } from '@sluice/controllers';
import {
  MessageRecord,
  type Outcome,
  type PlannedMutations,
  partitionOf,
  type RecordHead,
  traceFields,
  traceHeaders,
} from '@sluice/messages';
import type { EventToRecord } from '@sluice/model';
import type { Logger } from '@sluice/platform';
import { FencedError } from '@sluice/store';
import type { ApplyResult } from '../apply/apply-mutations.ts';
import { heldBackReasons } from '../confirmation/confirm-changes.ts';
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
    ...(applied.startedAt !== undefined && { startedAt: applied.startedAt }),
    completedAt,
    retries: applied.retries ?? 0,
    ...(applied.retryAfterMs && { retryAfterMs: applied.retryAfterMs }),
    ...(applied.cooldownMs && { cooldownMs: applied.cooldownMs }),
    ...(applied.heldBack && { heldBack: applied.heldBack }),
  };
}

/**
 * The record of an Outcome, without what exceeds the limit of the bus: first the objects that were read back, which the
 * watch delivers as well, then all results. Without results the reconciler decides again.
 */
export function outcomeRecord(head: RecordHead, outcome: Outcome, { messageBytes }: BusLimits): MessageRecord {
  const record = new MessageRecord(head, outcome);
  // Reading the payload encodes it, which a bus without limits may never do.
  if (messageBytes === Number.POSITIVE_INFINITY || record.payload.length <= messageBytes) return record;
  const results = outcome.results.map(({ current, ...result }) => (current === null ? { ...result, current } : result));
  const smaller = new MessageRecord(head, { ...outcome, results });
  if (smaller.payload.length <= messageBytes) return smaller;
  const message = 'the results exceed what the bus accepts';
  return new MessageRecord(head, { ...outcome, status: 'conflict', results: [], message });
}

/**
 * Returns the Events of a plan's controller for a plan that failed or is incomplete, as upstream does (section J), and an Event of Sluice's own for a change that was held back.
 */
export function failureEvents(
  plan: PlannedMutations,
  { failures, message }: Pick<ApplyResult, 'failures' | 'message'>,
): readonly EventToRecord[] {
  const { namespace, service: name } = plan.key;
  const service = { namespace, name, uid: plan.serviceUid };
  if (message !== undefined)
    for (const [change, reason] of Object.entries(heldBackReasons))
      if (message.startsWith(reason)) return [heldBack(service, eventReasons[change as HeldBackChange], message)];
  if (failures.length === 0 && plan.incomplete.length === 0) return [];
  return descriptorOf(plan.controller).events.failed?.(failedPlan(plan, failures)) ?? [];
}

function failedPlan(plan: PlannedMutations, failures: ApplyResult['failures']): FailedPlan {
  const { namespace, service: name } = plan.key;
  return {
    service: { namespace, name, uid: plan.serviceUid },
    failures,
    incomplete: plan.incomplete,
    groups: plan.groups,
  };
}

type HeldBackChange = keyof typeof heldBackReasons;
const eventReasons = { removal: 'EndpointRemovalHeldBack', addition: 'EndpointAdditionHeldBack' } as const;

/** Has no upstream counterpart: upstream writes what its caches contain. */
function heldBack(
  service: { namespace: string; name: string; uid: string },
  reason: string,
  message: string,
): EventToRecord {
  const { namespace, name, uid } = service;
  const regarding = { kind: 'Service', namespace, name, ...(uid !== '' && { uid }) } as const;
  return { type: 'Warning', reason, message, regarding };
}

/** The log text for a failed plan, worded as upstream does (E28, H7, H20, section J). */
export function failureText(plan: PlannedMutations, { failures }: Pick<ApplyResult, 'failures'>): string {
  const own = descriptorOf(plan.controller).events.failureText?.(failedPlan(plan, failures));
  if (own !== undefined) return own;
  return failureEvents(plan, { failures })
    .map(({ message }) => message)
    .join('; ');
}
