export * from './history/entry.ts';
export * from './history/history.ts';
export type { Journal } from './history/journal.ts';
export type { ServiceState } from './history/service-state.ts';
