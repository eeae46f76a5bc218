export type { Decided } from './decide.ts';
export type { PartitionMetrics, ReconcilerMetrics, RestoredState, Settled } from './metrics.ts';
export { type ReconcilerOptions, runReconciler } from './reconciler.ts';
export { defaultSettings, type Settings } from './settings.ts';
