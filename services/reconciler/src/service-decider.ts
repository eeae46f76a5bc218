import { type BusLimits, type BusRecord, recordId } from '@sluice/bus';
import { decisionOrder } from '@sluice/controllers';
import { MessageRecord, traceFields, traceHeaders } from '@sluice/messages';
import type { Controller } from '@sluice/model';
import {
  type Decision,
  decide,
  evolve,
  type InFlight,
  isDue,
  nextDueAt,
  planOf,
  readyAsWritten,
  type ServiceState,
  wantsDecisionAt,
} from '@sluice/service-state';
import type { OnDecided, PartitionMetrics } from './metrics.ts';
import type { PartitionState } from './partition-state.ts';
import type { PartitionTraces } from './partition-traces.ts';
import type { PartitionWorkerOptions } from './worker-options.ts';

interface ServiceDeciderOptions
  extends Pick<PartitionWorkerOptions, 'bus' | 'settings' | 'logger' | 'fencingToken' | 'onDecided'> {
  readonly state: PartitionState;
  readonly metrics: PartitionMetrics | undefined;
  readonly traces: PartitionTraces | undefined;
}

/** Runs `decide` for a Service, with plan numbers, metrics and traces, and returns the records to publish. */
export class ServiceDecider {
  readonly #options: ServiceDeciderOptions;

  constructor(options: ServiceDeciderOptions) {
    this.#options = options;
  }

  /** Counts the Service's due decisions as queued. */
  countQueued(key: string, now: number): void {
    const { state, metrics } = this.#options;
    const service = state.services.get(key);
    if (service === undefined) return;
    for (const controller of decisionOrder) {
      const at = wantsDecisionAt(service.controller(controller).timers);
      if (at !== null && at <= now) metrics?.due(key, controller);
    }
  }

  /** The plans to publish: new ones, and those whose Outcome is overdue. */
  decide(key: string, now: number): readonly BusRecord[] {
    const { state, metrics } = this.#options;
    const service = state.services.get(key);
    if (service === undefined) return [];
    const records: BusRecord[] = [];
    for (const controller of decisionOrder) {
      const decision = this.#decide(key, service, controller, now);
      if (decision?.kind !== 'planned' && decision?.kind !== 'redelivered') continue;
      const record = this.publishable(key, service, controller, now);
      if (record !== undefined) records.push(record);
    }
    for (const controller of decisionOrder) {
      metrics?.parked(key, controller, service.controller(controller).retries.parked !== null);
    }
    state.queue.set(key, nextDueAt(service, now));
    return records;
  }

  /** The record of the plan in flight. If the bus can never take it, the Service is parked instead. */
  publishable(key: string, service: ServiceState, controller: Controller, now: number): BusRecord | undefined {
    const { bus, settings, logger } = this.#options;
    const { inFlight } = service.controller(controller);
    if (inFlight === null) return undefined;
    const record = planRecord(key, inFlight);
    const reason = oversize(record, bus.limits);
    if (reason === undefined) return record;
    evolve(service, { kind: 'parked', controller, reason }, now, settings);
    logger.error('plan exceeds the limit of the bus; service parked', { key, controller, reason });
    this.#decided(key, controller, undefined);
    return undefined;
  }

  #decided(...decision: Parameters<OnDecided>): void {
    const { metrics, onDecided } = this.#options;
    metrics?.decided(...decision);
    onDecided?.(...decision);
  }

  #decide(key: string, service: ServiceState, controller: Controller, now: number): Decision | null {
    if (!isDue(service, controller, now)) return null;
    const { state, fencingToken, settings, metrics, traces, logger } = this.#options;
    const { causes, inFlight } = service.controller(controller);
    if (inFlight === null) metrics?.deciding(key, controller);
    const startedAt = traces?.now() ?? 0;
    const trace = inFlight === null ? traces?.planTrace(causes) : undefined;
    const decision = decide(service, controller, now, {
      settings,
      nextPlan: { epoch: fencingToken, number: state.planNumbers.next },
      readyElsewhere: (of) => state.ready.elsewhere(key, service.key.cluster, of),
      trace,
    });
    if (decision === null) return null;
    evolve(service, decision, now, settings);
    if (decision.kind === 'redelivered') return decision;
    const plan = planOf(decision);
    const reason = decision.kind === 'parked' ? decision.reason : undefined;
    if (trace !== undefined) traces?.decided({ key: service.key, controller, causes, startedAt, plan, trace, reason });
    if (decision.kind === 'parked') {
      logger.error('decision failed; service parked', { key, controller, reason, ...traceFields(trace) });
      this.#decided(key, controller, undefined);
      return decision;
    }
    if (plan !== undefined) state.planNumbers.advance();
    if (plan !== undefined || !state.ready.has(key, controller)) {
      const ready = readyAsWritten(service, controller) + (plan?.ready?.delta ?? 0);
      state.ready.set(key, service.key.cluster, controller, ready);
    }
    this.#decided(key, controller, decision);
    return decision;
  }
}

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
