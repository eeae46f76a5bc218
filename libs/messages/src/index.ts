export * from './cause.ts';
export * from './change.ts';
export * from './codec.ts';
export * from './digest-facts.ts';
export * from './identifiers.ts';
export * from './outcome.ts';
export * from './planned-mutations.ts';
export * from './requests.ts';
