export * from './differential/api-client.ts';
export * from './differential/objects.ts';
export * from './differential/pair.ts';
export * from './differential/sample-objects.ts';
export * from './differential/sluice-process.ts';
export * from './differential/workload/service-steps.ts';
export { weightedSteps } from './differential/workload/weighted-steps.ts';
export * from './differential/workload/workload.ts';
export { SmallDisk } from './small-disk.ts';
