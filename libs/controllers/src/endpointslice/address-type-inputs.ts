import type { AddressType, EndpointSlice, NodeTopology, PodOnNode, Service } from '@sluice/model';
import type { DecisionPolicy } from '../policy.ts';
import type { ServiceHints } from '../trackers/topology-cache.ts';

/** Inputs of the decision for one address type of a Service. */
export interface AddressTypeInputs {
  readonly service: Service;
  readonly type: AddressType;
  readonly pods: readonly PodOnNode[];
  /** Slices of this type that are not being deleted. */
  readonly slices: readonly EndpointSlice[];
  readonly triggerTime: string | null;
  readonly topology: NodeTopology | null;
  readonly hints: ServiceHints | null;
  readonly maxEndpointsPerSlice: number;
  readonly policy: DecisionPolicy;
}
