export * from './cluster-watcher.ts';
