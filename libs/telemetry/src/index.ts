export { Metrics, type MetricsOptions } from './metrics.ts';
export type { WriteVerb } from './pipeline-metrics.ts';
export type { WorkQueue } from './workqueue-metrics.ts';
