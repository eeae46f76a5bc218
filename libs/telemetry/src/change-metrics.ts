import type { Controller } from '@sluice/controllers';
import { type Causes, causeKindOf, watcherStarted } from '@sluice/messages';
import type { ClusterLabel } from './cluster-label.ts';
import { exemplarOf } from './exemplar.ts';
import type { Exposition } from './prometheus/exposition.ts';
import { Histogram } from './prometheus/histogram.ts';
import { observableGauge } from './prometheus/metrics.ts';
import type { Labels } from './prometheus/series-by-labels.ts';

/** In seconds: the range of upstream's network programming latency, with more buckets below 100 ms. */
const latencyBuckets = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300];

/** Latency and coalescing of changes, and the age of each watch. */
export class ChangeMetrics {
  readonly #cluster: ClusterLabel;
  readonly #triggered: Histogram;
  readonly #together: Histogram;
  /** Seconds since the last event of each watch. */
  readonly #ages = new Map<Labels, () => number>();

  constructor(exposition: Exposition, cluster: ClusterLabel) {
    this.#cluster = cluster;
    this.#triggered = new Histogram(exposition, {
      exemplars: true,
      name: 'sluice_trigger_to_applied_seconds',
      help: 'Time from each event, as received by the watcher, to the last response to the writes it caused',
      buckets: latencyBuckets,
      labelNames: [...cluster.names, 'cause'],
    });
    this.#together = new Histogram(exposition, {
      name: 'sluice_plan_causes',
      help: 'Events coalesced into one plan',
      buckets: [1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024],
      labelNames: ['controller'],
    });
    const age = {
      name: 'sluice_watch_idle_seconds',
      help: 'Time since the last event or bookmark of a watch; bookmarks arrive about every minute',
      labelNames: [...cluster.names, 'resource'],
    };
    observableGauge(exposition, age, (report) => {
      for (const [labels, seconds] of this.#ages) report(seconds(), labels);
    });
  }

  /** Records a plan that was applied with at least one write. Objects of the watcher's initial list are not changes. */
  applied(identity: string, controller: Controller, causes: Causes, completedAt: number): void {
    const { first, more } = causes;
    // The trace that the plan continues is that of an early cause, so it is the exemplar of the first one only.
    let traceId = exemplarOf(causes);
    this.#together.observe({ controller }, first.length + more);
    for (const cause of first) {
      if (cause.description === watcherStarted) continue;
      const labels = { ...this.#cluster.labels(identity), cause: causeKindOf(cause) };
      const seconds = Math.max(0, completedAt - cause.observedAt) / 1000;
      this.#triggered.observe(labels, seconds, traceId);
      traceId = undefined;
    }
  }

  /** Exposes the age of a watch until the returned function is called. */
  showWatchAge(identity: string, resource: string, seconds: () => number): () => void {
    const labels = { ...this.#cluster.labels(identity), resource };
    this.#ages.set(labels, seconds);
    return () => void this.#ages.delete(labels);
  }
}
