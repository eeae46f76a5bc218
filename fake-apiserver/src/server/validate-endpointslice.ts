import { asRecord, asString } from '@sluice/platform';
import { duplicate, type FieldError, invalid, notSupported, required, tooMany } from './field-error.ts';
import { arrayOf, type GivenObject, type StoredObject } from './object.ts';
import { semanticEqual } from './semantic-equal.ts';
import { validateAddress } from './validate-address.ts';
import { protocols } from './validate-endpoints.ts';
import { isDnsSubdomain, isLabelValue, validateDnsLabel } from './validate-metadata.ts';

/** Limits of one slice in the API server (K3). */
const limits = { endpoints: 1000, ports: 20_000, addresses: 100, zoneHints: 8, nodeHints: 8 };
const addressTypes = ['FQDN', 'IPv4', 'IPv6'];

/** Limits of an EndpointSlice and its immutable address type (K3). Unchanged endpoints are not validated again. */
export function validateEndpointSlice(object: GivenObject, old: StoredObject | undefined): readonly FieldError[] {
  const errors = [...validateAddressType(object.addressType), ...validatePorts(object.ports)];
  if (old === undefined || !semanticEqual(old.endpoints, object.endpoints))
    errors.push(...validateEndpointList(object.endpoints, asString(object.addressType)));
  if (old !== undefined && old.addressType !== object.addressType)
    errors.push(invalid('addressType', object.addressType, 'field is immutable'));
  return errors;
}

function validateAddressType(value: unknown): readonly FieldError[] {
  if (asString(value) === '') return [required('addressType')];
  return addressTypes.includes(asString(value)) ? [] : [notSupported('addressType', value, addressTypes)];
}

function validatePorts(value: unknown): readonly FieldError[] {
  const ports = arrayOf(value).map(asRecord);
  if (ports.length > limits.ports) return [tooMany('ports', ports.length, limits.ports)];
  const names = new Set<string>();
  return ports.flatMap((port, i) => {
    const field = `ports[${i}]`;
    const name = asString(port.name);
    const errors = name === '' ? [] : [...validateDnsLabel(`${field}.name`, name)];
    if (names.has(name)) errors.push(duplicate(`${field}.name`, name));
    names.add(name);
    const protocol = port.protocol ?? 'TCP';
    if (!protocols.includes(asString(protocol))) errors.push(notSupported(`${field}.protocol`, protocol, protocols));
    return errors;
  });
}

function validateEndpointList(value: unknown, addressType: string): readonly FieldError[] {
  const endpoints = arrayOf(value);
  if (endpoints.length > limits.endpoints) return [tooMany('endpoints', endpoints.length, limits.endpoints)];
  return endpoints.flatMap((endpoint, i) => validateEndpoint(`endpoints[${i}]`, asRecord(endpoint), addressType));
}

function validateEndpoint(
  field: string,
  endpoint: Readonly<Record<string, unknown>>,
  addressType: string,
): readonly FieldError[] {
  const addresses = arrayOf(endpoint.addresses);
  const errors: FieldError[] = [];
  if (addresses.length === 0) errors.push(required(`${field}.addresses`, 'must contain at least 1 address'));
  if (addresses.length > limits.addresses)
    errors.push(tooMany(`${field}.addresses`, addresses.length, limits.addresses));
  for (const [j, address] of addresses.entries()) {
    const path = `${field}.addresses[${j}]`;
    if (addressType === 'IPv4' || addressType === 'IPv6') errors.push(...validateAddress(path, address, addressType));
    else if (!isDnsSubdomain(asString(address)) || !asString(address).includes('.'))
      errors.push(invalid(path, address, 'should be a domain with at least two segments separated by dots'));
  }
  const { nodeName, hostname, hints } = endpoint;
  if (nodeName !== undefined && !isDnsSubdomain(asString(nodeName)))
    errors.push(invalid(`${field}.nodeName`, nodeName, 'must be the name of a Node'));
  if (hostname !== undefined) errors.push(...validateDnsLabel(`${field}.hostname`, hostname));
  return [...errors, ...validateHints(`${field}.hints`, asRecord(hints))];
}

function validateHints(field: string, hints: Readonly<Record<string, unknown>>): readonly FieldError[] {
  return [
    ...validateHintList(`${field}.forZones`, arrayOf(hints.forZones), limits.zoneHints, isLabelValue),
    ...validateHintList(`${field}.forNodes`, arrayOf(hints.forNodes), limits.nodeHints, isDnsSubdomain),
  ];
}

function validateHintList(
  field: string,
  hints: readonly unknown[],
  max: number,
  isValid: (name: string) => boolean,
): readonly FieldError[] {
  if (hints.length > max) return [tooMany(field, hints.length, max)];
  const names = new Set<string>();
  return hints.flatMap((hint, i) => {
    const name = asString(asRecord(hint).name);
    const path = `${field}[${i}].name`;
    if (names.has(name)) return [duplicate(path, name)];
    names.add(name);
    return isValid(name) ? [] : [invalid(path, name, 'is not a valid name')];
  });
}
