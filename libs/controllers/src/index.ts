export * from './controller.ts';
export * from './controller-metrics.ts';
export * from './endpoint-contents.ts';
export * from './endpoints/controller.ts';
export { podToEndpointAddress } from './endpoints/desired-subsets.ts';
export { repackSubsets } from './endpoints/repack-subsets.ts';
export { dumpEndpointSubset, dumpEndpointsPort } from './endpoints/subset-dump.ts';
export * from './endpointslice/compact-slices.ts';
export * from './endpointslice/controller.ts';
export { endpointPorts, podToEndpoint } from './endpointslice/desired-endpoints.ts';
export {
  dumpEndpointPort,
  dumpEndpointPorts,
  endpointsEqualBeyondHash,
  portMapKey,
} from './endpointslice/endpoint-identity.ts';
export { endpointSlicePrefix, replaceSlice } from './endpointslice/slice.ts';
export { hintsEnabled, type SliceInfo, trafficDistributionHints } from './endpointslice/slice-hints.ts';
export { addHints } from './endpointslice/topology-hints.ts';
export * from './endpointslicemirroring/controller.ts';
export type { MirroredGroup } from './endpointslicemirroring/mirrored-addresses.ts';
export { type Recycled, type Replacement, recycleSlices } from './endpointslicemirroring/mirrored-slice.ts';
export * from './failure-events.ts';
export { endpointHostname, selectorMatches, shouldPodBeInEndpoints, unresolvedPorts } from './pods.ts';
export * from './registry.ts';
export type { TrackedSlices } from './trackers/endpointslice-tracker.ts';
export * as endpointSliceTracker from './trackers/endpointslice-tracker.ts';
export * from './trackers/service-selector-cache.ts';
export * from './trackers/topology-cache.ts';
export * from './trackers/trigger-time-tracker.ts';
