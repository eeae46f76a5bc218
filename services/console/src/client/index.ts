export * from './answer-error.ts';
export * from './console-client.ts';
export * from './follow.ts';
