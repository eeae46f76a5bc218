export * from './bus.ts';
export * from './memory-bus.ts';
export * from './read-until-aborted.ts';
export * from './setup-error.ts';
