import type { ObjectMeta, ObjectReference } from './metadata.ts';

/** core/v1 Endpoints. */
export interface Endpoints {
  readonly metadata: ObjectMeta;
  readonly subsets?: readonly EndpointSubset[] | null;
}

export interface EndpointSubset {
  readonly addresses?: readonly EndpointAddress[] | null;
  readonly notReadyAddresses?: readonly EndpointAddress[] | null;
  readonly ports?: readonly EndpointsPort[] | null;
}

export interface EndpointAddress {
  readonly ip: string;
  readonly hostname?: string;
  readonly nodeName?: string | null;
  readonly targetRef?: ObjectReference | null;
}

/** A port of an Endpoints subset. Unlike a slice port's, its name is empty rather than null. */
export interface EndpointsPort {
  readonly name?: string;
  readonly port: number;
  readonly protocol?: string;
  readonly appProtocol?: string | null;
}
