export { type ControllerState, initialState, pending, touch } from './controller-state.ts';
export type { Decided } from './decide.ts';
export type { PartitionMetrics, ReconcilerMetrics, RestoredState, Settled } from './metrics.ts';
export { isMirrored, managerOf, slicesOf } from './own-slices.ts';
export type { PartitionWorkerOptions } from './partition-worker.ts';
export type { Moment, ReconcilerPolicy } from './policy.ts';
export { type ReconcilerOptions, runReconciler, workPartition } from './reconciler.ts';
export { type PodEntry, ServiceView } from './service-view.ts';
export { defaultSettings, type Settings } from './settings.ts';
