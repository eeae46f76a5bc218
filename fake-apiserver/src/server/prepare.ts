import { asRecord } from '@sluice/platform';
import type { ClusterIPs } from './cluster-ips.ts';
import { applyDefaults } from './defaults.ts';
import type { ServerFeatures } from './features.ts';
import { type FieldError, invalidObject } from './field-error.ts';
import { arrayOf, type GivenObject, type StoredObject } from './object.ts';
import type { ResourceInfo } from './resources.ts';
import { semanticEqual } from './semantic-equal.ts';
import { clusterIPsOf, type DefaultedService, defaultService } from './service-defaults.ts';
import { validateEndpoints } from './validate-endpoints.ts';
import { validateEndpointSlice } from './validate-endpointslice.ts';
import { validateMetadata } from './validate-metadata.ts';

/** Applies defaults, then validation (422 Invalid), and releases the cluster IPs that a Service gives up. */
export function prepare(
  features: ServerFeatures,
  clusterIPs: ClusterIPs,
  info: ResourceInfo,
  object: GivenObject,
  old: StoredObject | undefined,
): GivenObject {
  const { object: prepared, errors } = withDefaults(features, clusterIPs, info, object, old);
  const all = features.validation
    ? [...validateMetadata(info, prepared), ...errors, ...validateBody(info, prepared, old)]
    : [];
  if (all.length > 0) {
    if (errors.length === 0) releaseClusterIPs(clusterIPs, info, prepared, old);
    throw invalidObject(info, object.metadata.name ?? '', all);
  }
  releaseClusterIPs(clusterIPs, info, old, prepared);
  return prepared;
}

/** Releases the cluster IPs of `service` that `next` does not keep. */
export function releaseClusterIPs(
  clusterIPs: ClusterIPs,
  info: ResourceInfo,
  service: GivenObject | undefined,
  next: GivenObject | undefined,
): void {
  if (info.name !== 'services') return;
  const kept = clusterIPsOf(next);
  for (const ip of clusterIPsOf(service)) if (!kept.includes(ip)) clusterIPs.release(ip);
}

function withDefaults(
  features: ServerFeatures,
  clusterIPs: ClusterIPs,
  info: ResourceInfo,
  object: GivenObject,
  old: StoredObject | undefined,
): DefaultedService {
  if (!features.defaulting) return { object, errors: [] };
  if (info.name !== 'services')
    return { object: withoutTopology(info, applyDefaults(info, object, old === undefined), old), errors: [] };
  const service = defaultService(object, old, clusterIPs);
  const status = object.status ?? { loadBalancer: {} };
  return { object: { ...service.object, status }, errors: service.errors };
}

function validateBody(info: ResourceInfo, object: GivenObject, old: StoredObject | undefined): readonly FieldError[] {
  if (info.name === 'endpointslices') return validateEndpointSlice(object, old);
  if (info.name === 'endpoints' && !semanticEqual(old?.subsets, object.subsets)) return validateEndpoints(object);
  return [];
}

/** A write through v1 drops the deprecated topology of the endpoints (K8). */
function withoutTopology(info: ResourceInfo, object: GivenObject, old: StoredObject | undefined): GivenObject {
  if (info.name !== 'endpointslices' || semanticEqual(old?.endpoints, object.endpoints)) return object;
  const given = arrayOf(object.endpoints);
  if (!given.some((endpoint) => asRecord(endpoint).deprecatedTopology !== undefined)) return object;
  const endpoints = given.map((value) => {
    const { deprecatedTopology: _topology, ...endpoint } = asRecord(value);
    return endpoint;
  });
  return { ...object, endpoints };
}
