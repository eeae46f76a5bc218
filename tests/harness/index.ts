export * from './expected-endpoints.ts';
export * from './objects.ts';
export * from './observe-writes.ts';
export * from './pod-population.ts';
