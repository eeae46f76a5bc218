export * from './fleet/fleet-sources.ts';
export * from './fleet/parked-key.ts';
export * from './history/history.ts';
export type { Console, ConsoleOptions } from './http/create-console.ts';
export { clusterStatuses } from './http/known-clusters.ts';
export { createConsole, lazyConsole } from './http/lazy-console.ts';
export { type ObservedServices, problemsOverClusters } from './http/problems-over-clusters.ts';
export { BusFollower } from './ingest/bus-follower.ts';
export { readLogs, tapBus } from './ingest/read-logs.ts';
export { RecordingBus } from './ingest/recording-bus.ts';
export type { AccessReviewer, ConsoleSources } from './ports.ts';
export { ThreadBudget } from './thread-budget.ts';
export { fetchTrace, jaegerTraces } from './traces/fetch-trace.ts';
export { viewTrace } from './traces/view-trace.ts';
export { LogicalServiceIndex } from './view/logical-service-index.ts';
export type {
  ActivityList,
  ClusterView,
  HistoryView,
  LogicalServiceDetail,
  OutageView,
  Overview,
  PodDetail,
  PodView,
  RecentChange,
  ServiceDetail,
  ServiceList,
  TraceView,
} from './view/schemas.ts';
export { type DegradedPolicy, isDegraded } from './view/service-status.ts';
