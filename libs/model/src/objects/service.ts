import type { StringMap } from './metadata.ts';

/** The part of a core/v1 Service that the controllers need. */
export interface Service {
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
  /** RFC 3339, or empty. The Service's own trigger time (C15). */
  readonly creationTimestamp: string;
  /** Has a deletionTimestamp. */
  readonly deleting: boolean;
  readonly labels: StringMap;
  /** Only the two annotations that enable topology hints (F1). */
  readonly annotations: StringMap;
  readonly type: string;
  /** Null: no selector, so endpoints are managed by users. Empty: selects every Pod of the namespace (C9). */
  readonly selector: StringMap | null;
  readonly clusterIP: string;
  readonly ipFamilies: readonly string[];
  readonly ports: readonly ServicePort[];
  readonly publishNotReadyAddresses: boolean;
  readonly trafficDistribution: string | null;
}

export interface ServicePort {
  readonly name: string;
  readonly protocol: string;
  readonly port: number;
  /** A number, or the name of a container port (C5). */
  readonly targetPort: number | string;
  readonly appProtocol: string | null;
}

/** Whether the Service has a cluster IP. One without is headless, and its objects carry the headless label. */
export function isServiceIpSet(service: Service): boolean {
  return service.clusterIP !== '' && service.clusterIP !== 'None';
}
