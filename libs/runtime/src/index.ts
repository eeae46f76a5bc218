export * from './backoff.ts';
export * from './clock.ts';
export * from './keep-running.ts';
export * from './logger.ts';
export * from './random.ts';
export * from './tls-problem.ts';
export * from './turns.ts';
export * from './virtual-clock.ts';
