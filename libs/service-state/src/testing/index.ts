export * from './messages.ts';
export * from './objects.ts';
