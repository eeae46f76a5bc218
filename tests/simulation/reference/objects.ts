import type { StoredObject } from '@sluice/fake-apiserver';

/** The parts of stored objects that the recomputation reads. */

export interface ServicePort {
  readonly name?: string;
  readonly protocol?: string;
  readonly targetPort: number | string;
  readonly appProtocol?: string;
}

export interface ServiceObject extends StoredObject {
  readonly spec: {
    readonly type?: string;
    readonly clusterIP?: string;
    readonly selector?: Readonly<Record<string, string>>;
    readonly ipFamilies?: readonly string[];
    readonly ports?: readonly ServicePort[];
    readonly publishNotReadyAddresses?: boolean;
    readonly trafficDistribution?: string;
  };
}

export interface PodObject extends StoredObject {
  readonly spec: {
    readonly nodeName?: string;
    readonly hostname?: string;
    readonly subdomain?: string;
    readonly containers: readonly {
      readonly ports?: readonly {
        readonly name?: string;
        readonly containerPort: number;
        readonly protocol?: string;
      }[];
    }[];
  };
  readonly status?: {
    readonly phase?: string;
    readonly podIP?: string;
    readonly podIPs?: readonly { readonly ip: string }[];
    readonly conditions?: readonly {
      readonly type: string;
      readonly status: string;
      readonly lastTransitionTime?: string;
    }[];
  };
}

export interface TargetRef {
  readonly kind?: string;
  readonly namespace?: string;
  readonly name?: string;
  readonly uid?: string;
}

export interface OwnerRef {
  readonly apiVersion: string;
  readonly kind: string;
  readonly name: string;
  readonly uid: string;
  readonly controller?: boolean;
  readonly blockOwnerDeletion?: boolean;
}

export interface SliceEndpoint {
  readonly addresses: readonly string[];
  readonly conditions?: { readonly ready?: boolean; readonly serving?: boolean; readonly terminating?: boolean };
  readonly targetRef?: TargetRef;
  readonly nodeName?: string;
  readonly zone?: string;
  readonly hostname?: string;
  readonly hints?: {
    readonly forZones?: readonly { readonly name: string }[];
    readonly forNodes?: readonly { readonly name: string }[];
  };
}

export interface SlicePort {
  readonly name?: string;
  readonly protocol?: string;
  readonly port?: number;
  readonly appProtocol?: string;
}

export interface SliceObject extends StoredObject {
  readonly addressType: string;
  /** Null, as Go encodes an empty list. */
  readonly ports?: readonly SlicePort[] | null;
  /** Null, as Go encodes an empty list. */
  readonly endpoints?: readonly SliceEndpoint[] | null;
}

export interface EndpointsAddress {
  readonly ip: string;
  readonly hostname?: string;
  readonly nodeName?: string;
  readonly targetRef?: TargetRef;
}

export interface EndpointsObject extends StoredObject {
  readonly subsets?: readonly {
    readonly addresses?: readonly EndpointsAddress[];
    readonly notReadyAddresses?: readonly EndpointsAddress[];
    readonly ports?: readonly {
      readonly name?: string;
      readonly port: number;
      readonly protocol?: string;
      readonly appProtocol?: string;
    }[];
  }[];
}

export const serviceNameLabel = 'kubernetes.io/service-name';
export const managedByLabel = 'endpointslice.kubernetes.io/managed-by';
export const headlessLabel = 'service.kubernetes.io/headless';
export const endpointsManagedByLabel = 'endpoints.kubernetes.io/managed-by';
export const sliceManager = 'endpointslice-controller.k8s.io';
export const mirrorManager = 'endpointslicemirroring-controller.k8s.io';
export const endpointsManager = 'endpoint-controller';
