export type { HeldLease, LeaseMetrics, OwningRole, PartitionTopic } from './lease-metrics.ts';
export { Metrics, type MetricsOptions } from './metrics.ts';
export type { WriteVerb } from './pipeline-metrics.ts';
export type { ShadowMetrics, ShadowStands } from './shadow-metrics.ts';
export type { SpanCounts } from './span-metrics.ts';
export * from './traces/attributes.ts';
export * from './traces/semantic-conventions.ts';
export type { Span, SpanAttributes, Tracer } from './traces/tracer.ts';
export type { WorkQueue } from './workqueue-metrics.ts';
