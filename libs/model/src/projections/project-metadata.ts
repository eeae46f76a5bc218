import type { ObjectMeta, OwnerReference } from '../objects/metadata.ts';
import {
  asFields,
  type Fields,
  fieldsAt,
  keptListAt,
  listAt,
  nameOf,
  optionalStringAt,
  optionalStringMapAt,
  stringAt,
  withField,
  wrongType,
} from './fields.ts';
import { optionalTimeAt } from './time.ts';

/** Metadata in its API shape, including unknown fields, without `managedFields` (A8) and null fields. */
export function projectMetadata(object: Fields): ObjectMeta {
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
