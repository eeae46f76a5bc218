import type { Endpoints } from '../objects/endpoints.ts';
import { checkTargetRef } from './check-target-ref.ts';
import {
  asFields,
  type Fields,
  integerAt,
  keptListAt,
  optionalStringAt,
  projected,
  stringAt,
  withField,
} from './fields.ts';
import { projectMetadata } from './project-metadata.ts';

/**
 * Projects a core/v1 Endpoints in its API shape, without `managedFields`.
 *
 * @throws MalformedObjectError
 */
export function projectEndpoints(raw: unknown): Endpoints {
  return projected('Endpoints', raw, (object) => {
    const subsets = keptListAt(object, 'subsets', 'subsets', subset);
    const { apiVersion: _apiVersion, kind: _kind, ...fields } = object;
    return { ...fields, metadata: projectMetadata(object), ...(subsets !== undefined && { subsets }) } as Endpoints;
  });
}

function subset(item: unknown): Fields {
  let fields = asFields(item, '');
  for (const key of ['addresses', 'notReadyAddresses']) {
    fields = withField(fields, key, keptListAt(fields, key, key, address));
  }
  return withField(fields, 'ports', keptListAt(fields, 'ports', 'ports', port));
}

function port(item: unknown): Fields {
  const fields = asFields(item, '');
  for (const key of ['name', 'protocol', 'appProtocol']) optionalStringAt(fields, key, key);
  return withField(fields, 'port', integerAt(fields, 'port', 'port'));
}

function address(item: unknown): Fields {
  const fields = asFields(item, '');
  optionalStringAt(fields, 'hostname', 'hostname');
  optionalStringAt(fields, 'nodeName', 'nodeName');
  checkTargetRef(fields);
  return withField(fields, 'ip', stringAt(fields, 'ip', 'ip'));
}
