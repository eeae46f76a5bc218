export * from './assign.ts';
export type { HeldLease } from './holdings.ts';
export * from './ownership.ts';
export * from './partition-logger.ts';
