export { mergePatch } from './api-server/merge-patch.ts';
export * from './api-server/mode.ts';
export type { StoredMeta, StoredObject } from './api-server/object.ts';
export { type ResourceInfo, type ResourceName, resourceNames, resources } from './api-server/resources.ts';
export type { LabelRequirement, Selection } from './api-server/selection.ts';
export { semanticEqual } from './api-server/semantic-equal.ts';
export * from './api-server/server.ts';
export { isStatusError, type Status, type StatusCause, type StatusDetails, StatusError } from './api-server/status.ts';
export {
  type ServerWatchEvent,
  type Watch,
  type WatchCut,
  type WatchOptions,
  WatchReset,
} from './api-server/watch.ts';
export * from './cluster/simulated-cluster.ts';
export * from './faults/fault-plan.ts';
export * from './faults/faulty-network.ts';
export { ConnectionReset } from './faults/perform.ts';
export * from './http/api-server-http.ts';
export { kubeconfigOf } from './http/kubeconfig.ts';
export * from './world/action.ts';
export { LivingWorld, type LivingWorldOptions } from './world/living-world.ts';
export * from './world/populate.ts';
export type { WorldApi } from './world/world-api.ts';
