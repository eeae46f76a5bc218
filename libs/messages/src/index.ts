export * from './cause.ts';
export * from './change.ts';
export * from './codec.ts';
export * from './outcome.ts';
export * from './partition.ts';
export * from './plan-message.ts';
export * from './service-key.ts';
export * from './stamp.ts';
