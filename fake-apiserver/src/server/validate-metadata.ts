import { asRecord } from '@sluice/platform';
import { type FieldError, invalid, required } from './field-error.ts';
import type { GivenObject } from './object.ts';
import type { ResourceInfo } from './resources.ts';

const dnsLabel = /^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/;
const dnsSubdomain = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/;
const labelValue = /^([A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?)?$/;
const qualifiedName = /^([a-z0-9]([-a-z0-9.]*[a-z0-9])?\/)?[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?$/;

const subdomainRule =
  "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', " +
  'and must start and end with an alphanumeric character';
const labelRule =
  "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', " +
  'and must start and end with an alphanumeric character';

function isDnsLabel(text: string): boolean {
  return dnsLabel.test(text);
}

export function isDnsSubdomain(text: string): boolean {
  return text.length <= 253 && dnsSubdomain.test(text);
}

export function isLabelValue(text: string): boolean {
  return labelValue.test(text);
}

/** Validates a DNS label, such as a hostname or port name. */
export function validateDnsLabel(field: string, value: unknown): readonly FieldError[] {
  return typeof value === 'string' && isDnsLabel(value) ? [] : [invalid(field, value, labelRule)];
}

/** Validates name, labels and annotations. Names of Services and namespaces are DNS labels, all others subdomains. */
export function validateMetadata(info: ResourceInfo, object: GivenObject): readonly FieldError[] {
  const { name = '', labels, annotations } = object.metadata;
  return [
    ...validateName(info, name),
    ...Object.entries(asRecord(labels)).flatMap(([key, value]) => validateLabel(key, value)),
    ...Object.keys(asRecord(annotations)).flatMap((key) => validateKey('metadata.annotations', key)),
  ];
}

function validateName(info: ResourceInfo, name: string): readonly FieldError[] {
  if (name === '') return [required('metadata.name', 'name or generateName is required')];
  if (info.name === 'services' || info.name === 'namespaces') return validateDnsLabel('metadata.name', name);
  return isDnsSubdomain(name) ? [] : [invalid('metadata.name', name, subdomainRule)];
}

function validateLabel(key: string, value: unknown): readonly FieldError[] {
  const errors = validateKey('metadata.labels', key);
  if (typeof value === 'string' && isLabelValue(value)) return errors;
  return [
    ...errors,
    invalid('metadata.labels', value, 'a valid label must be an empty string or 63 characters or less'),
  ];
}

function validateKey(field: string, key: string): readonly FieldError[] {
  return qualifiedName.test(key) ? [] : [invalid(field, key, 'name part must consist of alphanumeric characters')];
}
