import type { ObjectReference } from '../objects/metadata.ts';

/** Whether two references are equal, ignoring their resourceVersion (C24, D19). */
export function equalObjectReferences(
  a: ObjectReference | null | undefined,
  b: ObjectReference | null | undefined,
): boolean {
  if (a === b) return true;
  if (!a || !b) return !a && !b;
  return (
    (a.uid ?? '') === (b.uid ?? '') &&
    (a.kind ?? '') === (b.kind ?? '') &&
    (a.name ?? '') === (b.name ?? '') &&
    (a.namespace ?? '') === (b.namespace ?? '') &&
    (a.apiVersion ?? '') === (b.apiVersion ?? '') &&
    (a.fieldPath ?? '') === (b.fieldPath ?? '')
  );
}
