export { type FoundCompaction, findCompactions } from './find-compactions.ts';
export type {
  CompletedPlan,
  Decided,
  PartitionMetrics,
  ReconcilerMetrics,
  RestoredState,
} from './metrics.ts';
export { type ReconcilerOptions, runReconciler, workPartition } from './reconciler.ts';
export { reconcilerMetrics } from './reconciler-metrics.ts';
export type { PartitionWorkerOptions } from './worker-options.ts';
