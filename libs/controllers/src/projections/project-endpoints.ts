import type { Endpoints } from '../objects/endpoints.ts';
import { asFields, fieldsAt, integerAt, listAt, optionalStringAt, projected, stringAt } from './fields.ts';
import { projectMetadata } from './project-metadata.ts';

/**
 * Projects a core/v1 Endpoints in its API shape, without `managedFields`.
 *
 * @throws MalformedObjectError
 */
export function projectEndpoints(raw: unknown): Endpoints {
  return projected('Endpoints', raw, (object) => {
    listAt(object, 'subsets', 'subsets', checkSubset);
    const { apiVersion: _apiVersion, kind: _kind, ...fields } = object;
    return { ...fields, metadata: projectMetadata(object) } as Endpoints;
  });
}

function checkSubset(item: unknown): void {
  const subset = asFields(item, '');
  listAt(subset, 'addresses', 'addresses', checkAddress);
  listAt(subset, 'notReadyAddresses', 'notReadyAddresses', checkAddress);
  listAt(subset, 'ports', 'ports', (port) => {
    const fields = asFields(port, '');
    for (const key of ['name', 'protocol', 'appProtocol']) optionalStringAt(fields, key, key);
    integerAt(fields, 'port', 'port');
  });
}

function checkAddress(item: unknown): void {
  const address = asFields(item, '');
  stringAt(address, 'ip', 'ip');
  optionalStringAt(address, 'hostname', 'hostname');
  optionalStringAt(address, 'nodeName', 'nodeName');
  const target = fieldsAt(address, 'targetRef', 'targetRef');
  for (const key of ['kind', 'namespace', 'name', 'uid', 'apiVersion', 'resourceVersion', 'fieldPath']) {
    optionalStringAt(target, key, `targetRef.${key}`);
  }
}
