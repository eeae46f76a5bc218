export { type ReconcilerOptions, runReconciler } from './reconciler.ts';
export { defaultSettings, type Settings } from './settings.ts';
