export { FalseAlarms } from './availability-monitor.ts';
export { ClusterWatcher } from './cluster-watcher.ts';
export type { ClusterWatcherOptions } from './cluster-watcher-options.ts';
export { listSemaphore } from './informer.ts';
export { Prefetch } from './prefetch.ts';
export { removeCluster } from './remove-cluster.ts';
