import type { BusRecord } from '@sluice/bus';
import type { Controller } from '@sluice/controllers';
import { type PlanId, type TraceContext, traceFields } from '@sluice/messages';
import type { ServiceState } from '@sluice/service-state';
import { decide, decidesAt, decisionOrder, type InFlight, isDue, redeliver } from '@sluice/service-state';
import type { PartitionMetrics } from './metrics.ts';
import type { PartitionState } from './partition-state.ts';
import type { PartitionTraces } from './partition-traces.ts';
import { planRecord } from './plan-record.ts';
import type { PartitionWorkerOptions } from './worker-options.ts';

export interface ServiceDeciderOptions extends Pick<PartitionWorkerOptions, 'settings' | 'logger' | 'epoch'> {
  readonly state: PartitionState;
  readonly metrics: PartitionMetrics;
  readonly traces: PartitionTraces | undefined;
}

/** Decides what is due for a Service, notes it in its view, and says what is to be published. */
export class ServiceDecider {
  readonly #options: ServiceDeciderOptions;

  constructor(options: ServiceDeciderOptions) {
    this.#options = options;
  }

  /** Whatever is due for the Service is counted as waiting from now on. */
  tellDue(key: string, now: number): void {
    const { state, metrics } = this.#options;
    for (const controller of decisionOrder) {
      const view = state.views.get(key);
      const at = view === undefined ? null : decidesAt(view.controller(controller));
      if (at !== null && at <= now) metrics.due(key, controller);
    }
  }

  /** Plans that were decided, and those whose Outcome is overdue. */
  decide(key: string, now: number): readonly BusRecord[] {
    const { state, metrics } = this.#options;
    const view = state.views.get(key);
    if (view === undefined) return [];
    const plans: BusRecord[] = [];
    for (const controller of decisionOrder) {
      const plan = redeliver(view, controller, now) ?? this.#decide(key, view, controller, now);
      if (plan !== undefined) plans.push(planRecord(key, plan));
    }
    for (const controller of decisionOrder) {
      metrics.parked(key, controller, view.controller(controller).parked !== null);
    }
    state.due.set(key, nextDue(view));
    return plans;
  }

  #decide(key: string, view: ServiceState, controller: Controller, now: number): InFlight | undefined {
    if (!isDue(view, controller, now)) return undefined;
    const { state, epoch, settings, metrics, traces, logger } = this.#options;
    metrics.deciding(key, controller);
    const { causes } = view.controller(controller);
    const startedAt = traces?.now() ?? 0;
    const nextPlan = (): PlanId => ({ epoch, number: state.planNumbers.next() });
    try {
      const decided = decide(view, controller, nextPlan, now, settings, state.ready);
      const trace = traces?.decided(view.key, controller, causes, startedAt, decided.plan);
      if (trace !== undefined && decided.plan !== undefined) continueTrace(view, controller, trace);
      metrics.decided(key, controller, decided);
      return (decided.plan && view.controller(controller).inFlight) ?? undefined;
    } catch (error) {
      // One Service that cannot be decided must not stop the others of its partition.
      const reason = error instanceof Error ? (error.stack ?? error.message) : String(error);
      const trace = traces?.decided(view.key, controller, causes, startedAt, undefined, reason);
      logger.error('no decision; parked until it changes', { key, controller, reason, ...traceFields(trace) });
      this.#park(view, controller, reason, now);
      metrics.decided(key, controller, undefined);
      return undefined;
    }
  }

  #park(view: ServiceState, controller: Controller, reason: string, now: number): void {
    const { parkedRetryMs } = this.#options.settings;
    const state = view.controller(controller);
    const dueAt = parkedRetryMs === null ? null : now + parkedRetryMs;
    view.setController(controller, { ...state, dueAt, parked: reason, parkedSince: state.parkedSince ?? now });
  }
}

/** When the Service is to be decided again if nothing comes in; null while that depends on what comes in. */
function nextDue(view: ServiceState): number | null {
  if (!view.snapshot.complete || view.snapshot.open !== null) return null;
  let next: number | null = null;
  for (const controller of decisionOrder) {
    const state = view.controller(controller);
    const at = state.inFlight === null ? decidesAt(state) : state.inFlight.redeliverAt;
    if (at !== null && (next === null || at < next)) next = at;
  }
  return next;
}

function continueTrace(view: ServiceState, controller: Controller, trace: TraceContext): void {
  const state = view.controller(controller);
  if (state.inFlight !== null) view.setController(controller, { ...state, inFlight: { ...state.inFlight, trace } });
}
