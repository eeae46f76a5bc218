import type { Controller } from '@sluice/controllers';
import type { PartitionMetrics, ReconcilerMetrics } from '@sluice/reconciler';
import type { Decided } from '@sluice/service-state';

/** Called after each decision; `decided` is undefined if no decision was possible. */
export type OnDecided = (key: string, controller: Controller, decided: Decided | undefined) => void;

/** Wraps the metrics so that `onDecided` sees each decision. */
export function observeDecisions(metrics: ReconcilerMetrics, onDecided: OnDecided): ReconcilerMetrics {
  return { open: (partition) => observed(metrics.open(partition), onDecided) };
}

function observed(metrics: PartitionMetrics, onDecided: OnDecided): PartitionMetrics {
  return {
    folded: (...args) => metrics.folded(...args),
    restored: (...args) => metrics.restored(...args),
    due: (...args) => metrics.due(...args),
    deciding: (...args) => metrics.deciding(...args),
    decided(...args) {
      metrics.decided(...args);
      onDecided(...args);
    },
    settled: (...args) => metrics.settled(...args),
    parked: (...args) => metrics.parked(...args),
    differed: (...args) => metrics.differed(...args),
    dropped: (...args) => metrics.dropped(...args),
    close: () => metrics.close(),
  };
}
