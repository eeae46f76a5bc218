export * from './anonymous-access.ts';
export * from './api-error.ts';
export type { Authenticator } from './authenticator.ts';
export { type BeforeSend, bothBeforeSend } from './before-send.ts';
export * from './cluster.ts';
export {
  type ClusterRequest,
  isWrite,
  type RequestOf,
  type ResponseTo,
  type Verb,
  type WatchStream,
} from './cluster-request.ts';
export * from './connection.ts';
export { invalidAnswerError } from './connection-error.ts';
export * from './default-kubeconfigs.ts';
export * from './event-correlator.ts';
export { type EventObject, eventObject } from './event-object.ts';
export * from './event-recorder.ts';
export { heldBack } from './held-back.ts';
export * from './http-cluster.ts';
export * from './kubeconfig.ts';
export * from './kubeconfig-error.ts';
export * from './lease.ts';
export * from './lease-client.ts';
export { ListBudget } from './list-budget.ts';
export * from './middleware/check-requests.ts';
export * from './middleware/early-watches.ts';
export * from './middleware/identity-guard.ts';
export * from './middleware/meter-requests.ts';
export * from './middleware/scope-namespaces.ts';
export * from './middleware.ts';
export * from './namespace-scope.ts';
export * from './reflector.ts';
export * from './reflector-options.ts';
export { isOlderVersion } from './resource-version.ts';
export { apiGroup, objectPath } from './resources.ts';
export * from './service-account-access.ts';
export { errorFromResponse, errorFromStatus, type RequestedObject, type ResponseHead } from './status.ts';
