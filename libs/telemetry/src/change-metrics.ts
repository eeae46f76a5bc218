import type { Controller } from '@sluice/controllers';
import { type CauseKind, type Causes, causeKindOf, watcherStarted } from '@sluice/messages';
import type { ClusterLabel } from './cluster-label.ts';
import { type Distribution, distributed } from './series/distributed.ts';
import type { Exposition } from './series/exposition.ts';
import type { Labelled } from './series/labelled.ts';
import { shown } from './series/shown.ts';

/** Seconds; as far as upstream's network programming latency goes, and finer where Sluice mostly is. */
const latencyBuckets = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300];

/** How long changes take to be written, how many come together, and whether a cluster is still heard of. */
export class ChangeMetrics {
  readonly #cluster: ClusterLabel;
  readonly #triggered: Labelled<Distribution>;
  readonly #together: Labelled<Distribution>;
  /** By the values of labels; seconds since something was heard. */
  readonly #ages = new Map<readonly string[], () => number>();

  constructor(exposition: Exposition, cluster: ClusterLabel) {
    this.#cluster = cluster;
    this.#triggered = distributed(exposition, {
      name: 'sluice_trigger_to_applied_seconds',
      help: 'From each event, as the watcher received it, to the last answer to the writes that it led to',
      buckets: latencyBuckets,
      labelNames: [...cluster.names, 'cause'],
    });
    this.#together = distributed(exposition, {
      name: 'sluice_plan_causes',
      help: 'Events that came together in one plan; sum by count is the coalescing ratio',
      buckets: [1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024],
      labelNames: ['controller'],
    });
    const age = {
      name: 'sluice_watch_age_seconds',
      help: 'Since the watch of a resource told anything, a bookmark included, which comes about each minute',
      labelNames: [...cluster.names, 'resource'],
    };
    shown(exposition, age, (show) => {
      for (const [labels, seconds] of this.#ages) show(seconds(), ...labels);
    });
  }

  /** A plan with writes is applied. What a start finds has no trigger. */
  applied(identity: string, controller: Controller, { first, more }: Causes, completedAt: number): void {
    this.#together.of(controller).observe(first.length + more);
    for (const cause of first) {
      if (cause.what === watcherStarted) continue;
      const kind: CauseKind = causeKindOf(cause);
      const seconds = Math.max(0, completedAt - cause.observedAt) / 1000;
      this.#triggered.of(...this.#cluster.values(identity), kind).observe(seconds);
    }
  }

  /** Shows the age of a watch, for as long as the returned function is not called. */
  showWatchAge(identity: string, resource: string, seconds: () => number): () => void {
    const labels = [...this.#cluster.values(identity), resource];
    this.#ages.set(labels, seconds);
    return () => void this.#ages.delete(labels);
  }
}
