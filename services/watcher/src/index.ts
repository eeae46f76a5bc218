export * from './cluster-watcher.ts';
export { type ForgetOptions, forgetCluster } from './forget-cluster.ts';
