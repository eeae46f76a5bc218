export { type FoundCompaction, findCompactions } from './find-compactions.ts';
export {
  type CompletedPlan,
  type Decided,
  noPartitionMetrics,
  observeDecisions,
  type PartitionMetrics,
  type ReconcilerMetrics,
  type RestoredState,
} from './metrics.ts';
export { type ReconcilerOptions, runReconciler, workPartition } from './reconciler.ts';
export { reconcilerMetrics } from './reconciler-metrics.ts';
export type { PartitionWorkerOptions } from './worker-options.ts';
