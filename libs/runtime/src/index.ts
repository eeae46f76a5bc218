export * from './backoff.ts';
export * from './clock.ts';
export * from './logger.ts';
export * from './random.ts';
export * from './run-with-backoff.ts';
export * from './tls-problem.ts';
export * from './virtual-clock.ts';
export * from './yield-queue.ts';
