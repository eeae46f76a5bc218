export * from './assign.ts';
export * from './ownership.ts';
