export * from './differential/api-client.ts';
export * from './differential/every-kind.ts';
export * from './differential/objects.ts';
export * from './differential/pair.ts';
export * from './differential/sluice-process.ts';
export { repertoire } from './differential/workload/repertoire.ts';
export * from './differential/workload/service-steps.ts';
export * from './differential/workload/world.ts';
