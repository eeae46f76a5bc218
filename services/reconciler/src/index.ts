export type { PartitionMetrics, ReconcilerMetrics, RestoredState, Settled } from './metrics.ts';
export { noPartitionMetrics } from './metrics.ts';
export { type ReconcilerOptions, runReconciler, workPartition } from './reconciler.ts';
export type { PartitionWorkerOptions } from './worker-options.ts';
