import type { BusRecord } from '@sluice/bus';
import { MessageRecord, traceHeaders } from '@sluice/messages';
import type { InFlight } from '@sluice/service-state';
import { decisionOrder } from '@sluice/service-state';
import type { PartitionState } from './partition-state.ts';

/**
 * The record by which a plan is published, always the same one. When it is asked for again it has another id: the bus would
 * take it for the same record, and drop it.
 */
export function planRecord(key: string, { message, redeliveries, trace }: InFlight): BusRecord {
  const name = `${key}/${message.controller}/${message.plan.epoch}/${message.plan.number}`;
  const id = redeliveries === 0 ? name : `${name}/again/${redeliveries}`;
  return new MessageRecord({ id, key, headers: traceHeaders(trace) }, message);
}

/** Plans that were committed and perhaps not published, in their order. */
export function unpublishedPlans({
  views,
  planNumbers,
}: PartitionState): { readonly key: string; readonly plan: InFlight }[] {
  const plans = [...views].flatMap(([key, view]) =>
    decisionOrder.flatMap((controller) => {
      const plan = view.controller(controller).inFlight;
      return plan === null || planNumbers.isPublished(plan.message.plan.number) ? [] : { key, plan };
    }),
  );
  return plans.sort((a, b) => a.plan.message.plan.number - b.plan.message.plan.number);
}
