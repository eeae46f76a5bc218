import { type Controller, type CountedSlices, controllers } from '@sluice/controllers';
import { watcherStarted } from '@sluice/messages';
import type { Clock } from '@sluice/runtime';
import type { StatePart } from '@sluice/service-state';
import type { Metrics, WorkQueue } from '@sluice/telemetry';
import type { CompletedPlan, Decided, PartitionMetrics, ReconcilerMetrics, RestoredState } from './metrics.ts';

/** Records the events of reconcilers as metrics. */
export function reconcilerMetrics(metrics: Metrics, clock: Clock): ReconcilerMetrics {
  return { open: () => new PartitionCounts(metrics, () => clock.monotonic()) };
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
  readonly #shares: Readonly<Record<Controller, Share>>;

  constructor(metrics: Metrics, monotonic: () => number) {
    this.#metrics = metrics;
    const share = (controller: Controller): Share => {
      const parked = new Set<string>();
      return {
        queue: metrics.workqueue.open(controller, monotonic),
        parked,
        unpark: metrics.pipeline.countParked(controller, parked),
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
    this.#metrics.pipeline.messageProcessed(kind);
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
    const { endpointSlice, mirroring } = this.#metrics;
    const identity = clusterOf(key);
    const planned = decided?.kind === 'planned';
    if (!planned) this.#shares[controller].queue.done(key);
    if (!planned && controller === 'endpointslice') endpointSlice.synced(identity, decided ? 'success' : 'error');
    if (!planned && controller === 'endpointslicemirroring') mirroring.synced(identity, 0);
    // Without a decision the counts stay.
    if (decided === undefined) return;
    const counts = decided.tracked?.counts ?? null;
    this.#count(key, controller, counts?.service ?? null);
    if (counts?.of === 'endpointslice') endpointSlice.decided(identity, counts);
    else if (counts?.of === 'endpointslicemirroring') mirroring.decided(identity, counts);
  }

  completed(key: string, controller: Controller, plan: CompletedPlan): void {
    const { status } = plan;
    const identity = clusterOf(key);
    const { queue } = this.#shares[controller];
    queue.done(key);
    if (status === 'conflict' || status === 'unavailable' || status === 'rejected') queue.retry();
    this.#metrics.pipeline.planCompleted(identity, controller, status);
    if (status === 'applied') this.#applied(identity, controller, plan);
    if (controller === 'endpointslice') this.#completedSlices(identity, plan);
    else if (controller === 'endpointslicemirroring') this.#completedMirror(identity, plan);
  }

  digestMismatch(parts: readonly StatePart[]): void {
    this.#metrics.pipeline.digestMismatch(parts);
  }

  foreignWrites(key: string, controller: Controller, count: number): void {
    this.#metrics.pipeline.foreignWrites(clusterOf(key), controller, count);
  }

  restoreProven(key: string): void {
    this.#metrics.pipeline.restoreProven(clusterOf(key));
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

  #applied(identity: string, controller: Controller, { outcome, fanoutBytes, compaction }: CompletedPlan): void {
    const { pipeline, changes } = this.#metrics;
    const { causes, completedAt, results } = outcome;
    pipeline.fannedOut(identity, fanoutBytes);
    if (compaction !== undefined) pipeline.compacted(identity, compaction);
    if (results.length === 0) return;
    changes.applied(identity, controller, causes, completedAt);
    const [first] = causes.first;
    // Objects of the watcher's initial list are not changes.
    if (first === undefined || first.description === watcherStarted) return;
    pipeline.observeLatency(identity, controller, completedAt - first.observedAt, causes);
  }

  #completedSlices(identity: string, { outcome, status, groups, incomplete, counted }: CompletedPlan): void {
    const { endpointSlice } = this.#metrics;
    const applied = outcome.results.filter((result) => result.status === 'applied');
    for (const { verb } of applied) endpointSlice.written(identity, verb);
    for (const [index, { mutations }] of groups.entries()) {
      // Slices of an address type that the Service does not have belong to no sync.
      if (mutations.some((m) => m.verb === 'delete' && m.unsupportedAddressType)) continue;
      const done = applied.filter(({ group }) => group === index).length;
      if (done === mutations.length) endpointSlice.changed(identity, counted?.hinting ?? null, done);
    }
    const good = status === 'applied' || status === 'namespaceTerminating';
    endpointSlice.synced(identity, good && !incomplete ? 'success' : 'error');
  }

  #completedMirror(identity: string, { outcome, counted }: CompletedPlan): void {
    const { mirroring } = this.#metrics;
    mirroring.synced(identity, outcome.completedAt - outcome.decidedAt);
    // Deletes of a clean-up do not count (I3).
    if (counted === null) return;
    for (const { status, verb } of outcome.results) if (status === 'applied') mirroring.written(identity, verb);
  }

  #count(key: string, controller: Controller, after: CountedSlices | null): void {
    if (controller === 'endpoints') return;
    const { counted } = this.#shares[controller];
    const before = counted.get(key) ?? null;
    const { gauges } = controller === 'endpointslice' ? this.#metrics.endpointSlice : this.#metrics.mirroring;
    gauges.replace(clusterOf(key), before, after);
    if (after === null) counted.delete(key);
    else counted.set(key, after);
  }
}

const clusterOf = (key: string): string => key.slice(0, key.indexOf('/'));
