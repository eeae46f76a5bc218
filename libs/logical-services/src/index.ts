export { type ConditionType, conditionsOf, conditionTypes, type ServiceCondition } from './conditions.ts';
export * from './describe-service.ts';
export type { EndpointCounts } from './endpoint-counts.ts';
export { type LogicalService, LogicalServices, type ReadableLogicalServices } from './logical-services.ts';
export * from './service-loss.ts';
export type { Difference } from './service-spec.ts';
export { type ServingState, servingStatesOf } from './serving-state.ts';
