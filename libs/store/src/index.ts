export * from './cluster-directory.ts';
export * from './dead-letters.ts';
export * from './leases.ts';
export * from './memory-leases.ts';
export * from './memory-store.ts';
export * from './owned-scope.ts';
export * from './store.ts';
