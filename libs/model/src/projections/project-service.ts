import type { Service, ServicePort, StringMap } from '../objects.ts';
import { topologyAwareHintsAnnotation, topologyModeAnnotation } from '../well-known.ts';
import {
  asFields,
  asString,
  booleanAt,
  type Fields,
  fieldsAt,
  integerAt,
  listAt,
  nameOf,
  optionalStringAt,
  optionalStringMapAt,
  optionalTimeAt,
  projected,
  stringAt,
  stringMapAt,
  wrongType,
} from './fields.ts';

/**
 * Projects a core/v1 Service.
 *
 * @throws MalformedObjectError
 */
export function projectService(raw: unknown): Service {
  return projected('Service', raw, (object) => {
    const metadata = fieldsAt(object, 'metadata', 'metadata');
    const spec = fieldsAt(object, 'spec', 'spec');
    return {
      namespace: stringAt(metadata, 'namespace', 'metadata.namespace'),
      name: nameOf(metadata),
      uid: stringAt(metadata, 'uid', 'metadata.uid'),
      creationTimestamp: optionalTimeAt(metadata, 'creationTimestamp', 'metadata.creationTimestamp') ?? '',
      deleting: optionalTimeAt(metadata, 'deletionTimestamp', 'metadata.deletionTimestamp') !== null,
      labels: stringMapAt(metadata, 'labels', 'metadata.labels'),
      annotations: hintAnnotations(stringMapAt(metadata, 'annotations', 'metadata.annotations')),
      type: stringAt(spec, 'type', 'spec.type'),
      selector: optionalStringMapAt(spec, 'selector', 'spec.selector'),
      clusterIP: stringAt(spec, 'clusterIP', 'spec.clusterIP'),
      ipFamilies: listAt(spec, 'ipFamilies', 'spec.ipFamilies', asString),
      ports: listAt(spec, 'ports', 'spec.ports', servicePort),
      publishNotReadyAddresses: booleanAt(spec, 'publishNotReadyAddresses', 'spec.publishNotReadyAddresses'),
      trafficDistribution: optionalStringAt(spec, 'trafficDistribution', 'spec.trafficDistribution'),
      ...trafficPolicyAt(spec, 'internalTrafficPolicy'),
      ...trafficPolicyAt(spec, 'externalTrafficPolicy'),
    };
  });
}

/** Keeps only the two annotations that enable hints (F1); others change often and affect no decision. */
function hintAnnotations(annotations: StringMap): StringMap {
  const kept: Record<string, string> = {};
  for (const key of [topologyAwareHintsAnnotation, topologyModeAnnotation]) {
    const value = annotations[key];
    if (value !== undefined) kept[key] = value;
  }
  return kept;
}

/** Without the default, which almost all have. */
function trafficPolicyAt<F extends 'internalTrafficPolicy' | 'externalTrafficPolicy'>(spec: Fields, field: F) {
  const policy = stringAt(spec, field, `spec.${field}`);
  return policy === '' || policy === 'Cluster' ? undefined : { [field]: policy };
}

function servicePort(item: unknown): ServicePort {
  const port = asFields(item, '');
  return {
    name: stringAt(port, 'name', 'name'),
    protocol: stringAt(port, 'protocol', 'protocol'),
    port: integerAt(port, 'port', 'port'),
    targetPort: targetPort(port),
    appProtocol: optionalStringAt(port, 'appProtocol', 'appProtocol'),
  };
}

function targetPort(port: Fields): number | string {
  const target = port.targetPort;
  if (typeof target === 'string') return target;
  if (target === undefined || target === null || typeof target === 'number') {
    return integerAt(port, 'targetPort', 'targetPort');
  }
  throw wrongType('targetPort', 'an integer or a string');
}
