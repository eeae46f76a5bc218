import { type BusLimits, type BusRecord, recordId } from '@sluice/bus';
import { decisionOrder } from '@sluice/controllers';
import { MessageRecord, traceHeaders } from '@sluice/messages';
import type { InFlight, ServiceState } from '@sluice/service-state';
import type { PartitionState } from './partition-state.ts';

/**
 * The record that publishes a plan; always the same one, so the bus drops duplicates. A redelivery has an id of its own,
 * since the bus must not drop it.
 */
export function planRecord(key: string, { message, redeliveries, trace }: InFlight): BusRecord {
  const again = redeliveries === 0 ? [] : ['again', redeliveries];
  const id = recordId(key, message.controller, message.plan.epoch, message.plan.number, ...again);
  return new MessageRecord({ id, key, headers: traceHeaders(trace) }, message);
}

/** Why the bus can never take the record; undefined if it can. Reads no payload if the bus has no limit. */
export function oversize(record: BusRecord, { messageBytes }: BusLimits): string | undefined {
  if (messageBytes === Number.POSITIVE_INFINITY || record.payload.length <= messageBytes) return undefined;
  return `the plan has ${record.payload.length} bytes, more than the ${messageBytes} that the bus accepts; see docs/operations/capacity.md`;
}

/** Committed plans that may not have been published, in their order. */
export function unpublishedPlans({
  services,
  planNumbers,
}: PartitionState): { readonly key: string; readonly state: ServiceState; readonly plan: InFlight }[] {
  const plans = [...services].flatMap(([key, state]) =>
    decisionOrder.flatMap((controller) => {
      const plan = state.controller(controller).inFlight;
      return plan === null || planNumbers.isPublished(plan.message.plan.number) ? [] : { key, state, plan };
    }),
  );
  return plans.sort((a, b) => a.plan.message.plan.number - b.plan.message.plan.number);
}
