import { type Controller, type CountedSlices, controllers, type Hinting, type SyncCounts } from '@sluice/controllers';
import { type Causes, causeKindOf, isSampled, traceIdOf, watcherStarted } from '@sluice/messages';
import type { Clock } from '@sluice/runtime';
import type { StatePart } from '@sluice/service-state';
import type { Metrics } from '@sluice/telemetry';
import type { CompletedPlan, Decided, PartitionMetrics, ReconcilerMetrics, RestoredState } from './metrics.ts';
import { SliceGauges } from './slice-gauges.ts';
import { WorkQueue } from './work-queue.ts';

/** Records the events of reconcilers as metrics. */
export function reconcilerMetrics(metrics: Metrics, clock: Clock): ReconcilerMetrics {
  const gauges = {
    endpointslice: new SliceGauges(metrics, 'endpoint_slice_controller'),
    endpointslicemirroring: new SliceGauges(metrics, 'endpoint_slice_mirroring_controller'),
  };
  return { open: () => new PartitionCounts(metrics, gauges, () => clock.monotonic()) };
}

/** The metrics of one controller in one partition. */
interface Share {
  readonly queue: WorkQueue;
  readonly parked: Set<string>;
  readonly unpark: () => void;
  /** Contribution of each Service to the gauges, by key. */
  readonly counted: Map<string, CountedSlices>;
}

type Gauges = Readonly<Record<Exclude<Controller, 'endpoints'>, SliceGauges>>;

class PartitionCounts implements PartitionMetrics {
  readonly #metrics: Metrics;
  readonly #gauges: Gauges;
  readonly #shares: Readonly<Record<Controller, Share>>;

  constructor(metrics: Metrics, gauges: Gauges, monotonic: () => number) {
    this.#metrics = metrics;
    this.#gauges = gauges;
    const share = (controller: Controller): Share => {
      const parked = new Set<string>();
      return {
        queue: new WorkQueue(metrics, controller, monotonic),
        parked,
        unpark: metrics.show({ controller }, { sluice_parked_services: () => parked.size }),
        counted: new Map(),
      };
    };
    this.#shares = {
      endpoints: share('endpoints'),
      endpointslice: share('endpointslice'),
      endpointslicemirroring: share('endpointslicemirroring'),
    };
  }

  applied(kind: 'change' | 'outcome'): void {
    this.#metrics.inc('sluice_messages_processed_total', { kind });
  }

  restored(key: string, controller: Controller, { counted, deciding, parked }: RestoredState): void {
    this.#count(key, controller, counted);
    // The store does not know when the work began, so it is measured from here.
    if (deciding) this.#shares[controller].queue.start(key);
    this.parked(key, controller, parked);
  }

  due(key: string, controller: Controller): void {
    this.#shares[controller].queue.add(key);
  }

  deciding(key: string, controller: Controller): void {
    this.#shares[controller].queue.start(key);
  }

  decided(key: string, controller: Controller, decided: Decided | undefined): void {
    const identity = clusterOf(key);
    if (decided?.kind !== 'planned') {
      this.#shares[controller].queue.done(key);
      if (controller === 'endpointslice') this.#synced(identity, decided !== undefined);
      if (controller === 'endpointslicemirroring') this.#mirrored(identity, 0);
    }
    // Without a decision the counts stay.
    if (decided === undefined) return;
    const counts = decided.tracked?.counts ?? null;
    this.#count(key, controller, counts?.service ?? null);
    if (counts !== null) this.#decidedEndpoints(identity, counts);
  }

  completed(key: string, controller: Controller, plan: CompletedPlan): void {
    const { status } = plan;
    const identity = clusterOf(key);
    const { queue } = this.#shares[controller];
    queue.done(key);
    if (status === 'conflict' || status === 'unavailable' || status === 'rejected') queue.retry();
    this.#metrics.inc('sluice_plans_total', { identity, controller, status });
    if (status === 'applied') this.#applied(identity, controller, plan);
    if (controller === 'endpointslice') this.#completedSlices(identity, plan);
    else if (controller === 'endpointslicemirroring') this.#completedMirror(identity, plan);
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
    const { parked: keys } = this.#shares[controller];
    if (parked) keys.add(key);
    else keys.delete(key);
  }

  dropped(key: string): void {
    for (const controller of controllers) {
      this.#shares[controller].queue.done(key);
      this.parked(key, controller, false);
      this.#count(key, controller, null);
    }
  }

  close(): void {
    for (const controller of controllers) {
      const { queue, unpark, counted } = this.#shares[controller];
      queue.close();
      unpark();
      for (const key of [...counted.keys()]) this.#count(key, controller, null);
    }
  }

  /** The sync of an address type without writes is complete; the others complete with their writes. */
  #decidedEndpoints(identity: string, counts: SyncCounts): void {
    const labels = { identity };
    if (counts.of === 'endpointslice') {
      for (const { added, removed, changed } of counts.addressTypes) {
        this.#metrics.observe('endpoint_slice_controller_endpoints_added_per_sync', labels, added);
        this.#metrics.observe('endpoint_slice_controller_endpoints_removed_per_sync', labels, removed);
        if (changed === 0) this.#changedSlices(identity, counts.service.hinting, 0);
      }
      return;
    }
    const { added, updated, removed, skipped } = counts;
    this.#metrics.observe('endpoint_slice_mirroring_controller_endpoints_added_per_sync', labels, added);
    this.#metrics.observe('endpoint_slice_mirroring_controller_endpoints_updated_per_sync', labels, updated);
    this.#metrics.observe('endpoint_slice_mirroring_controller_endpoints_removed_per_sync', labels, removed);
    this.#metrics.observe('endpoint_slice_mirroring_controller_addresses_skipped_per_sync', labels, skipped);
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
      if (cause.description === watcherStarted) continue;
      const seconds = Math.max(0, completedAt - cause.observedAt) / 1000;
      metrics.observe('sluice_trigger_to_applied_seconds', { identity, cause: causeKindOf(cause) }, seconds, exemplar);
      exemplar = undefined;
    }
    const [first] = causes.first;
    if (first === undefined || first.description === watcherStarted) return;
    const latency = (completedAt - first.observedAt) / 1000;
    metrics.observe('sluice_change_to_write_seconds', { identity, controller }, latency, traceId);
  }

  #completedSlices(identity: string, { outcome, status, groups, incomplete, counted }: CompletedPlan): void {
    const applied = outcome.results.filter((result) => result.status === 'applied');
    for (const { verb } of applied)
      this.#metrics.inc('endpoint_slice_controller_changes', { identity, operation: verb });
    for (const [index, { mutations }] of groups.entries()) {
      // Slices of an address type that the Service does not have belong to no sync.
      if (mutations.some((m) => m.verb === 'delete' && m.unsupportedAddressType)) continue;
      const done = applied.filter(({ group }) => group === index).length;
      if (done === mutations.length) this.#changedSlices(identity, counted?.hinting ?? null, done);
    }
    const good = status === 'applied' || status === 'namespaceTerminating';
    this.#synced(identity, good && !incomplete);
  }

  #completedMirror(identity: string, { outcome, counted }: CompletedPlan): void {
    this.#mirrored(identity, outcome.completedAt - outcome.decidedAt);
    // Deletes of a clean-up do not count (I3).
    if (counted === null) return;
    for (const { status, verb } of outcome.results) {
      if (status === 'applied')
        this.#metrics.inc('endpoint_slice_mirroring_controller_changes', { identity, operation: verb });
    }
  }

  /** All writes of one address type succeeded. */
  #changedSlices(identity: string, hinting: Hinting | null, writes: number): void {
    const { topology = 'Disabled', trafficDistribution = '' } = hinting ?? {};
    const labels = { identity, topology, traffic_distribution: trafficDistribution };
    this.#metrics.observe('endpoint_slice_controller_endpointslices_changed_per_sync', labels, writes);
  }

  #synced(identity: string, isGood: boolean): void {
    this.#metrics.inc('endpoint_slice_controller_syncs', { identity, result: isGood ? 'success' : 'error' });
  }

  /** Upstream rounds down to whole milliseconds. */
  #mirrored(identity: string, durationMs: number): void {
    const seconds = Math.floor(durationMs) / 1000;
    this.#metrics.observe('endpoint_slice_mirroring_controller_endpoints_sync_duration', { identity }, seconds);
  }

  #count(key: string, controller: Controller, after: CountedSlices | null): void {
    if (controller === 'endpoints') return;
    const { counted } = this.#shares[controller];
    const before = counted.get(key) ?? null;
    this.#gauges[controller].replace(clusterOf(key), before, after);
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
