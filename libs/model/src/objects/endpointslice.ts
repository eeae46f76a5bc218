import type { ObjectMeta, ObjectReference, StringMap } from './metadata.ts';

export type AddressType = 'IPv4' | 'IPv6' | 'FQDN';

/** `discovery.k8s.io/v1` EndpointSlice. Written back as a whole, so fields unknown to Sluice are preserved. */
export interface EndpointSlice {
  readonly metadata: ObjectMeta;
  readonly addressType: AddressType;
  readonly endpoints?: readonly Endpoint[] | null;
  readonly ports?: readonly EndpointPort[] | null;
}

export interface Endpoint {
  readonly addresses: readonly string[];
  readonly conditions?: EndpointConditions;
  readonly hostname?: string;
  readonly targetRef?: ObjectReference;
  readonly deprecatedTopology?: StringMap;
  readonly nodeName?: string;
  readonly zone?: string;
  readonly hints?: EndpointHints;
}

export interface EndpointConditions {
  readonly ready?: boolean | null;
  readonly serving?: boolean | null;
  readonly terminating?: boolean | null;
}

export interface EndpointHints {
  readonly forZones?: readonly { readonly name: string }[];
  readonly forNodes?: readonly { readonly name: string }[];
}

/** A null field equals a missing one; a null name differs from an empty one (C25). */
export interface EndpointPort {
  readonly name?: string | null;
  readonly protocol?: string | null;
  readonly port?: number | null;
  readonly appProtocol?: string | null;
}
