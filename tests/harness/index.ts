export * from './objects.ts';
export * from './pod-world.ts';
export * from './spied-server.ts';
