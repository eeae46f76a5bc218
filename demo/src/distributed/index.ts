export * from './distributed-bus.ts';
export * from './role-process.ts';
export * from './start-distributed.ts';
