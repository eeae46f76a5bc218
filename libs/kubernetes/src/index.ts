export type { Access } from './access.ts';
export * from './access-review.ts';
export * from './anonymous-access.ts';
export * from './api-error.ts';
export type { Authenticator } from './authenticator.ts';
export * from './check-connection.ts';
export * from './cluster.ts';
export * from './competing-controller.ts';
export {
  type CompetingControllerSearch as RivalSearch,
  dateOf,
  findCompetingControllerEvidence as findRivalEvidence,
  lastForeignWrite,
} from './competing-controller-evidence.ts';
export * from './connection.ts';
export { EarlyReader } from './early-reader.ts';
export * from './event-correlator.ts';
export { type EventObject, eventObject } from './event-object.ts';
export * from './event-recorder.ts';
export * from './http-cluster.ts';
export * from './kubeconfig.ts';
export * from './kubeconfig-error.ts';
export { encodeObject, protobufMediaType } from './protobuf/envelope.ts';
export * from './reflector.ts';
export * from './reflector-options.ts';
export { isOlderVersion } from './resource-version.ts';
export { objectPath } from './resources.ts';
export { errorFromResponse, errorFromStatus, type ResponseHead } from './status.ts';
export { type UsefulAccess, usefulAccess } from './useful-access.ts';
export type { SkippedObject } from './watch-line.ts';
