export * from './given.ts';
export * from './messages.ts';
export * from './objects.ts';
