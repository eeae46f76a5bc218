export * from './client/fake-client.ts';
export * from './faults/fault-plan.ts';
export * from './faults/faulty-network.ts';
export { ConnectionReset } from './faults/perform.ts';
export * from './http/api-server-http.ts';
export { kubeconfigOf } from './http/kubeconfig.ts';
export * from './populate.ts';
export * from './server/features.ts';
export { mergePatch } from './server/merge-patch.ts';
export { randomUid, timestamp } from './server/names.ts';
export type { StoredMeta, StoredObject } from './server/object.ts';
export { type ResourceInfo, type ResourceName, resourceNames, resources } from './server/resources.ts';
export type { LabelRequirement, Selection } from './server/selection.ts';
export { semanticEqual } from './server/semantic-equal.ts';
export * from './server/server.ts';
export { isStatusError, type Status, type StatusCause, type StatusDetails, StatusError } from './server/status.ts';
export {
  type ServerWatchEvent,
  type Watch,
  type WatchCut,
  type WatchOptions,
  WatchReset,
} from './server/watch.ts';
