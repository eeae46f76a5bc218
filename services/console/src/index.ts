export * from './history/entry.ts';
export * from './history/history.ts';
export { type Console, type ConsoleOptions, createConsole } from './http/create-console.ts';
export type { Access } from './http/guard.ts';
export { BusFollower, type FollowOptions } from './ingest/follow-bus.ts';
export { tapBus } from './ingest/tap-bus.ts';
export * from './ports.ts';
export { readJaegerTrace } from './traces/jaeger-trace.ts';
export * from './view/schemas.ts';
