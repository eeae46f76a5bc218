import { type Fields, fieldsAt, optionalStringAt } from './fields.ts';

// The paths are constants: this runs for every endpoint of every event.
const stringFields = ['kind', 'namespace', 'name', 'uid', 'apiVersion', 'resourceVersion', 'fieldPath'].map((key) => ({
  key,
  path: `targetRef.${key}`,
}));

/** Checks the field `targetRef` of an endpoint or address. Throws if it is no ObjectReference. */
export function checkTargetRef(item: Fields): void {
  const target = fieldsAt(item, 'targetRef', 'targetRef');
  for (const { key, path } of stringFields) optionalStringAt(target, key, path);
}
