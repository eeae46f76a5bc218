import type { EndpointAddress, EndpointSubset, EndpointsPort, ObjectReference } from '@sluice/model';

/** Whether two lists of subsets are equal, including their order, ignoring the resourceVersion of targets (D19). */
export function equalSubsets(a: readonly EndpointSubset[], b: readonly EndpointSubset[]): boolean {
  return equalLists(a, b, equalSubset);
}

function equalSubset(a: EndpointSubset, b: EndpointSubset): boolean {
  return (
    equalLists(a.ports, b.ports, equalPorts) &&
    equalLists(a.addresses, b.addresses, equalAddresses) &&
    equalLists(a.notReadyAddresses, b.notReadyAddresses, equalAddresses)
  );
}

function equalLists<T>(
  a: readonly T[] | null | undefined,
  b: readonly T[] | null | undefined,
  equal: (a: T, b: T) => boolean,
): boolean {
  const left = a ?? [];
  const right = b ?? [];
  return (
    left.length === right.length &&
    left.every((item, i) => {
      const other = right[i];
      return other !== undefined && equal(item, other);
    })
  );
}

function equalPorts(a: EndpointsPort, b: EndpointsPort): boolean {
  return (
    a.port === b.port &&
    (a.name ?? '') === (b.name ?? '') &&
    (a.protocol ?? '') === (b.protocol ?? '') &&
    (a.appProtocol ?? null) === (b.appProtocol ?? null)
  );
}

/** Ignores the resourceVersion of targets (D19). */
export function equalAddresses(a: EndpointAddress, b: EndpointAddress): boolean {
  return (
    a === b ||
    (a.ip === b.ip &&
      (a.hostname ?? '') === (b.hostname ?? '') &&
      (a.nodeName ?? null) === (b.nodeName ?? null) &&
      equalTargets(a.targetRef ?? null, b.targetRef ?? null))
  );
}

function equalTargets(a: ObjectReference | null, b: ObjectReference | null): boolean {
  if (a === null || b === null) return a === b;
  return (
    (a.uid ?? '') === (b.uid ?? '') &&
    (a.name ?? '') === (b.name ?? '') &&
    (a.namespace ?? '') === (b.namespace ?? '') &&
    (a.kind ?? '') === (b.kind ?? '') &&
    (a.apiVersion ?? '') === (b.apiVersion ?? '') &&
    (a.fieldPath ?? '') === (b.fieldPath ?? '')
  );
}
