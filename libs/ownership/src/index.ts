export * from './assign.ts';
export * from './ownership.ts';
export * from './partition-logger.ts';
