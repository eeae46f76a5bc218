export * from './objects.ts';
export * from './observe-writes.ts';
export * from './pod-population.ts';
