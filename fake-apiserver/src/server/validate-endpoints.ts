import { asRecord, asString } from '@sluice/platform';
import { type FieldError, invalid, notSupported, required } from './field-error.ts';
import { arrayOf, type GivenObject } from './object.ts';
import { validateAddress } from './validate-address.ts';
import { validateDnsLabel } from './validate-metadata.ts';

export const protocols = ['SCTP', 'TCP', 'UDP'];

/** Validates the subsets of an Endpoints object. The server neither sorts nor repacks them (K6). */
export function validateEndpoints(object: GivenObject): readonly FieldError[] {
  return arrayOf(object.subsets).flatMap((value, i) => {
    const field = `subsets[${i}]`;
    const subset = asRecord(value);
    const addresses = arrayOf(subset.addresses);
    const notReady = arrayOf(subset.notReadyAddresses);
    const ports = arrayOf(subset.ports);
    const empty = addresses.length + notReady.length === 0;
    return [
      ...(empty ? [required(field, 'must specify `addresses` or `notReadyAddresses`')] : []),
      ...addresses.flatMap((address, j) => validateEndpointAddress(`${field}.addresses[${j}]`, address)),
      ...notReady.flatMap((address, j) => validateEndpointAddress(`${field}.notReadyAddresses[${j}]`, address)),
      ...ports.flatMap((port, j) => validatePort(`${field}.ports[${j}]`, port, ports.length > 1)),
    ];
  });
}

function validateEndpointAddress(field: string, value: unknown): readonly FieldError[] {
  const { ip, hostname } = asRecord(value);
  const hostnameErrors = asString(hostname) === '' ? [] : validateDnsLabel(`${field}.hostname`, hostname);
  return [...validateAddress(`${field}.ip`, ip), ...hostnameErrors];
}

function validatePort(field: string, value: unknown, nameRequired: boolean): readonly FieldError[] {
  const { name, port, protocol } = asRecord(value);
  const errors: FieldError[] = [];
  if (asString(name) !== '') errors.push(...validateDnsLabel(`${field}.name`, name));
  else if (nameRequired) errors.push(required(`${field}.name`));
  if (typeof port !== 'number' || port < 1 || port > 65535)
    errors.push(invalid(`${field}.port`, port ?? 0, 'must be between 1 and 65535, inclusive'));
  if (!protocols.includes(asString(protocol)))
    errors.push(notSupported(`${field}.protocol`, protocol ?? '', protocols));
  return errors;
}
