export * from './bus.ts';
export * from './memory-bus.ts';
export * from './setup-error.ts';
