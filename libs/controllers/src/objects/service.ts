import type { StringMap } from './metadata.ts';

/** What the controllers need of a core/v1 Service. */
export interface Service {
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
  /** RFC 3339; the Service's own trigger time (C15). Empty if the object carries none. */
  readonly creationTimestamp: string;
  /** A deletionTimestamp is set. */
  readonly deleting: boolean;
  readonly labels: StringMap;
  /** Only the two annotations that switch topology hints on (F1). */
  readonly annotations: StringMap;
  readonly type: string;
  /** Null: no selector, the Service's endpoints are custom. Empty: every Pod of the namespace (C9). */
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

/** Whether the Service has a cluster IP; one without is headless, and its objects carry the headless label. */
export function isServiceIpSet(service: Service): boolean {
  return service.clusterIP !== '' && service.clusterIP !== 'None';
}
