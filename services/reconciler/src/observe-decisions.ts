import type { Controller } from '@sluice/model';
import type { Decided, PartitionMetrics, ReconcilerMetrics } from './metrics.ts';

/** Called after each decision; `decided` is undefined if no decision was possible. */
type OnDecided = (key: string, controller: Controller, decided: Decided | undefined) => void;

/** Wraps the metrics so that `onDecided` sees each decision. */
export function observeDecisions(metrics: ReconcilerMetrics, onDecided: OnDecided): ReconcilerMetrics {
  return { open: (partition) => observed(metrics.open(partition), onDecided) };
}

function observed(metrics: PartitionMetrics, onDecided: OnDecided): PartitionMetrics {
  return {
    applied: (...args) => metrics.applied(...args),
    restored: (...args) => metrics.restored(...args),
    due: (...args) => metrics.due(...args),
    deciding: (...args) => metrics.deciding(...args),
    decided(...args) {
      metrics.decided(...args);
      onDecided(...args);
    },
    completed: (...args) => metrics.completed(...args),
    foreignWrites: (...args) => metrics.foreignWrites(...args),
    restoreProven: (...args) => metrics.restoreProven(...args),
    parked: (...args) => metrics.parked(...args),
    digestMismatch: (...args) => metrics.digestMismatch(...args),
    dropped: (...args) => metrics.dropped(...args),
    close: () => metrics.close(),
  };
}
