import type { Endpoint, EndpointSlice } from '../objects/endpointslice.ts';
import { checkTargetRef } from './check-target-ref.ts';
import {
  asFields,
  asString,
  booleanAt,
  type Fields,
  fieldsAt,
  integerAt,
  keptListAt,
  listAt,
  optionalStringAt,
  optionalStringMapAt,
  projected,
  stringAt,
} from './fields.ts';
import { projectMetadata } from './project-metadata.ts';

/**
 * Projects a `discovery.k8s.io/v1` EndpointSlice in its API shape, including unknown fields, without `managedFields`.
 * An unknown address type is kept; it is never wanted (E12).
 *
 * @throws MalformedObjectError
 */
export function projectEndpointSlice(raw: unknown): EndpointSlice {
  return projected('EndpointSlice', raw, (object) => {
    const { apiVersion: _apiVersion, kind: _kind, ...fields } = object;
    const addressType = stringAt(object, 'addressType', 'addressType');
    const ports = keptListAt(object, 'ports', 'ports', port);
    const endpoints = listAt(object, 'endpoints', 'endpoints', endpoint);
    return {
      ...fields,
      metadata: projectMetadata(object),
      addressType,
      endpoints,
      ...(ports !== undefined && { ports }),
    } as unknown as EndpointSlice;
  });
}

function port(item: unknown): Fields {
  const fields = asFields(item, '');
  for (const key of ['name', 'protocol', 'appProtocol']) optionalStringAt(fields, key, key);
  integerAt(fields, 'port', 'port');
  return fields;
}

/** The endpoint without null fields. */
function endpoint(item: unknown): Endpoint {
  const fields = asFields(item, '');
  const addresses = listAt(fields, 'addresses', 'addresses', asString);
  const conditions = fieldsAt(fields, 'conditions', 'conditions');
  booleanAt(conditions, 'ready', 'conditions.ready');
  booleanAt(conditions, 'serving', 'conditions.serving');
  booleanAt(conditions, 'terminating', 'conditions.terminating');
  for (const key of ['hostname', 'nodeName', 'zone']) optionalStringAt(fields, key, key);
  checkTargetRef(fields);
  optionalStringMapAt(fields, 'deprecatedTopology', 'deprecatedTopology');
  const hints = fieldsAt(fields, 'hints', 'hints');
  listAt(hints, 'forZones', 'hints.forZones', checkHint);
  listAt(hints, 'forNodes', 'hints.forNodes', checkHint);
  return withoutNulls(fields, addresses);
}

function checkHint(item: unknown): void {
  stringAt(asFields(item, ''), 'name', 'name');
}

function withoutNulls(fields: Fields, addresses: readonly string[]): Endpoint {
  const given = fields.addresses;
  let clean = Array.isArray(given) && addresses.every((address, i) => address === given[i]);
  for (const key in fields) if (fields[key] === null) clean = false;
  if (clean) return fields as unknown as Endpoint;
  const kept = Object.entries(fields).filter(([, value]) => value !== null);
  return { ...Object.fromEntries(kept), addresses } as Endpoint;
}
