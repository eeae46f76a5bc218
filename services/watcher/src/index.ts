export { ClusterWatcher } from './cluster-watcher.ts';
export type { ClusterWatcherOptions } from './cluster-watcher-options.ts';
export { type ForgetOptions, forgetCluster } from './forget-cluster.ts';
