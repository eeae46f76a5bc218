import {
  type ControllerMetrics,
  type CountedSlices,
  controllers,
  descriptorOf,
  type RecordMetric,
} from '@sluice/controllers';
import { type Causes, causeKindOf, isSampled, isWatcherStart, traceIdOf } from '@sluice/messages';
import type { Controller } from '@sluice/model';
import type { Clock } from '@sluice/platform';
import type { StatePart } from '@sluice/service-state';
import type { Metrics } from '@sluice/telemetry';
import type { CompletedPlan, Decided, PartitionMetrics, ReconcilerMetrics, RestoredState } from './metrics.ts';
import { SliceGauges } from './slice-gauges.ts';
import { WorkQueue } from './work-queue.ts';

/** Records the events of reconcilers as metrics. */
export function reconcilerMetrics(metrics: Metrics, clock: Clock): ReconcilerMetrics {
  const own = new Map<Controller, OwnMetrics>();
  for (const controller of controllers) {
    const { own: declared } = descriptorOf(controller).metrics;
    if (declared === undefined) continue;
    const { subsystem, open } = declared;
    const record: RecordMetric = (name, labels, value) => metrics.record(`${subsystem}_${name}`, labels, value);
    own.set(controller, { gauges: new SliceGauges(metrics, declared), ...open(record) });
  }
  return { open: () => new PartitionCounts(metrics, own, () => clock.monotonic()) };
}

/** What a controller declares. */
interface OwnMetrics extends ControllerMetrics {
  readonly gauges: SliceGauges;
}

/** The metrics of one controller in one partition. */
interface Share {
  readonly queue: WorkQueue;
  readonly parked: Set<string>;
  readonly unpark: () => void;
  /** Contribution of each Service to the gauges, by key. */
  readonly counted: Map<string, CountedSlices>;
}

class PartitionCounts implements PartitionMetrics {
  readonly #metrics: Metrics;
  readonly #own: ReadonlyMap<Controller, OwnMetrics>;
  readonly #shares: ReadonlyMap<Controller, Share>;

  constructor(metrics: Metrics, own: ReadonlyMap<Controller, OwnMetrics>, monotonic: () => number) {
    this.#metrics = metrics;
    this.#own = own;
    const share = (controller: Controller): Share => {
      const parked = new Set<string>();
      return {
        queue: new WorkQueue(metrics, controller, monotonic),
        parked,
        unpark: metrics.show({ controller }, { sluice_parked_services: () => parked.size }),
        counted: new Map(),
      };
    };
    this.#shares = new Map(controllers.map((controller) => [controller, share(controller)]));
  }

  #share(controller: Controller): Share {
    const share = this.#shares.get(controller);
    if (share === undefined) throw new Error(`controller ${controller} was registered later`);
    return share;
  }

  applied(kind: 'change' | 'outcome'): void {
    this.#metrics.inc('sluice_messages_processed_total', { kind });
  }

  restored(key: string, controller: Controller, { counted, deciding, parked }: RestoredState): void {
    this.#count(key, controller, counted);
    // The store does not know when the work began, so it is measured from here.
    if (deciding) this.#share(controller).queue.start(key);
    this.parked(key, controller, parked);
  }

  due(key: string, controller: Controller): void {
    this.#share(controller).queue.add(key);
  }

  deciding(key: string, controller: Controller): void {
    this.#share(controller).queue.start(key);
  }

  decided(key: string, controller: Controller, decided: Decided | undefined): void {
    const identity = clusterOf(key);
    if (decided?.kind !== 'planned') {
      this.#share(controller).queue.done(key);
      this.#own.get(controller)?.ended(identity, decided === undefined);
    }
    // Without a decision the counts stay.
    if (decided === undefined) return;
    const counts = decided.tracked?.counts ?? null;
    this.#count(key, controller, counts?.service ?? null);
    if (counts !== null) this.#own.get(controller)?.decided(identity, counts);
  }

  completed(key: string, controller: Controller, plan: CompletedPlan): void {
    const { status } = plan;
    const identity = clusterOf(key);
    const { queue } = this.#share(controller);
    queue.done(key);
    if (status === 'conflict' || status === 'unavailable' || status === 'rejected') queue.retry();
    this.#metrics.inc('sluice_plans_total', { identity, controller, status });
    if (status === 'applied') this.#applied(identity, controller, plan);
    const { results, completedAt, decidedAt } = plan.outcome;
    this.#own.get(controller)?.completed(identity, { ...plan, results, tookMs: completedAt - decidedAt });
  }

  digestMismatch(parts: readonly StatePart[]): void {
    for (const part of parts) this.#metrics.inc('sluice_state_digest_mismatches_total', { part });
  }

  foreignWrites(key: string, controller: Controller, count: number): void {
    this.#metrics.inc('sluice_foreign_slice_writes_total', { identity: clusterOf(key), controller }, count);
  }

  restoreProven(key: string): void {
    this.#metrics.inc('sluice_cluster_restore_proofs_total', { identity: clusterOf(key) });
  }

  parked(key: string, controller: Controller, parked: boolean): void {
    const { parked: keys } = this.#share(controller);
    if (parked) keys.add(key);
    else keys.delete(key);
  }

  dropped(key: string): void {
    for (const controller of controllers) {
      this.#share(controller).queue.done(key);
      this.parked(key, controller, false);
      this.#count(key, controller, null);
    }
  }

  close(): void {
    for (const controller of controllers) {
      const { queue, unpark, counted } = this.#share(controller);
      queue.close();
      unpark();
      for (const key of [...counted.keys()]) this.#count(key, controller, null);
    }
  }

  /** A plan was applied. Objects of the watcher's initial list are not changes. */
  #applied(identity: string, controller: Controller, { outcome, fanoutBytes, compaction }: CompletedPlan): void {
    const metrics = this.#metrics;
    const { causes, completedAt, results } = outcome;
    metrics.inc('sluice_slice_fanout_bytes_total', { identity }, fanoutBytes);
    if (compaction !== undefined) {
      metrics.inc('sluice_compaction_slices_removed_total', { identity }, compaction.removed);
      metrics.inc('sluice_compaction_endpoints_moved_total', { identity }, compaction.moved);
    }
    if (results.length === 0) return;
    metrics.observe('sluice_plan_causes', { controller }, causes.first.length + causes.more);
    // The trace that the plan continues is that of an early cause, so it is the exemplar of the first one only.
    const traceId = exemplarOf(causes);
    let exemplar = traceId;
    for (const cause of causes.first) {
      if (isWatcherStart(cause)) continue;
      const seconds = Math.max(0, completedAt - cause.observedAt) / 1000;
      metrics.observe('sluice_trigger_to_applied_seconds', { identity, cause: causeKindOf(cause) }, seconds, exemplar);
      exemplar = undefined;
    }
    const [first] = causes.first;
    if (first === undefined || isWatcherStart(first)) return;
    const latency = (completedAt - first.observedAt) / 1000;
    metrics.observe('sluice_change_to_write_seconds', { identity, controller }, latency, traceId);
  }

  #count(key: string, controller: Controller, after: CountedSlices | null): void {
    const own = this.#own.get(controller);
    if (own === undefined) return;
    const { counted } = this.#share(controller);
    const before = counted.get(key) ?? null;
    own.gauges.replace(clusterOf(key), before, after);
    if (after === null) counted.delete(key);
    else counted.set(key, after);
  }
}

const clusterOf = (key: string): string => key.slice(0, key.indexOf('/'));

/** The trace id that serves as the exemplar of a plan's latency; undefined if the trace is not sampled. */
function exemplarOf({ traces }: Causes): string | undefined {
  const trace = traces?.[0];
  return trace !== undefined && isSampled(trace) ? traceIdOf(trace) : undefined;
}
