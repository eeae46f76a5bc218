import type { Controller } from '@sluice/controllers';
import type { PartitionMetrics, ReconcilerMetrics } from '@sluice/reconciler';
import type { Decided } from '@sluice/service-state';

/** Told of each decision; undefined: none could be made. */
export type OnDecided = (key: string, controller: Controller, decided: Decided | undefined) => void;

/** The metrics, which also tell of each decision. */
export function watchDecisions(metrics: ReconcilerMetrics, onDecided: OnDecided): ReconcilerMetrics {
  return { open: (partition) => watched(metrics.open(partition), onDecided) };
}

function watched(metrics: PartitionMetrics, onDecided: OnDecided): PartitionMetrics {
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
