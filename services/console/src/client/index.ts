export * from './console-client.ts';
export * from './follow-entries.ts';
