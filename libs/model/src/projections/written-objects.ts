import type { Endpoint, EndpointSlice, Endpoints, ObjectMeta, OwnerReference } from '../objects.ts';
import {
  asFields,
  asString,
  booleanAt,
  type Fields,
  fieldsAt,
  integerAt,
  keptListAt,
  listAt,
  nameOf,
  optionalStringAt,
  optionalStringMapAt,
  optionalTimeAt,
  projected,
  stringAt,
  withField,
  wrongType,
} from './fields.ts';

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
    const ports = keptListAt(object, 'ports', 'ports', slicePort);
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

function slicePort(item: unknown): Fields {
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
  return withField(fields, 'ports', keptListAt(fields, 'ports', 'ports', subsetPort));
}

function subsetPort(item: unknown): Fields {
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

/** Metadata in its API shape, including unknown fields, without `managedFields` (A8) and null fields. */
function projectMetadata(object: Fields): ObjectMeta {
  const raw = fieldsAt(object, 'metadata', 'metadata');
  const kept: Record<string, unknown> = {};
  for (const key in raw) {
    if (key !== 'managedFields' && raw[key] !== null) kept[key] = raw[key];
  }
  for (const key of ['uid', 'resourceVersion', 'generateName']) optionalStringAt(raw, key, `metadata.${key}`);
  for (const key of ['creationTimestamp', 'deletionTimestamp']) optionalTimeAt(raw, key, `metadata.${key}`);
  if (!Number.isInteger(raw.generation ?? 0)) throw wrongType('metadata.generation', 'an integer');
  for (const key of ['labels', 'annotations']) {
    const map = optionalStringMapAt(raw, key, `metadata.${key}`);
    if (map !== null) kept[key] = map;
  }
  const owners = keptListAt(raw, 'ownerReferences', 'metadata.ownerReferences', ownerReference);
  if (Array.isArray(owners)) kept.ownerReferences = owners;
  listAt(raw, 'finalizers', 'metadata.finalizers', (item) => {
    if (typeof item !== 'string') throw wrongType('', 'a string');
  });
  kept.name = nameOf(raw);
  kept.namespace = stringAt(raw, 'namespace', 'metadata.namespace');
  return kept as unknown as ObjectMeta;
}

function ownerReference(item: unknown): Fields {
  let owner = asFields(item, '');
  for (const key of ['apiVersion', 'kind', 'name', 'uid'] satisfies (keyof OwnerReference)[]) {
    owner = withField(owner, key, stringAt(owner, key, key));
  }
  return owner;
}

// The paths are constants: this runs for every endpoint of every event.
const stringFields = ['kind', 'namespace', 'name', 'uid', 'apiVersion', 'resourceVersion', 'fieldPath'].map((key) => ({
  key,
  path: `targetRef.${key}`,
}));

/** Checks the field `targetRef` of an endpoint or address. Throws if it is no ObjectReference. */
function checkTargetRef(item: Fields): void {
  const target = fieldsAt(item, 'targetRef', 'targetRef');
  for (const { key, path } of stringFields) optionalStringAt(target, key, path);
}
