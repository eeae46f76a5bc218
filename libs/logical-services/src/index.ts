export { conditionsOf, type ServiceCondition } from './conditions.ts';
export * from './describe-service.ts';
export type { EndpointCounts } from './endpoint-counts.ts';
export { type LogicalService, LogicalServices, type ReadableLogicalServices } from './logical-services.ts';
export * from './service-loss.ts';
export type { Difference } from './service-spec.ts';
export { servingStatesOf } from './serving-state.ts';
export * from './terms/index.ts';
