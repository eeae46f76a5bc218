import { asRecord } from '@sluice/platform';
import { arrayOf, type GivenObject } from './object.ts';
import type { ResourceInfo } from './resources.ts';

/** Fills in missing fields of all resources except Services. `creating` is false for updates. */
export function applyDefaults(info: ResourceInfo, object: GivenObject, creating: boolean): GivenObject {
  switch (info.name) {
    case 'endpointslices':
      return { ...object, endpoints: orNull(object.endpoints), ports: orNull(slicePorts(object.ports)) };
    case 'endpoints':
      return withSubsets(object);
    case 'pods':
      return creating ? newPod(object) : object;
    case 'namespaces':
      return creating ? newNamespace(object) : object;
    default:
      return object;
  }
}

/** Both lists of a slice are always present, null when empty. */
function orNull(value: unknown): unknown {
  return arrayOf(value).length > 0 ? value : null;
}

function slicePorts(value: unknown): readonly unknown[] {
  return arrayOf(value).map((port) => ({ name: '', protocol: 'TCP', ...asRecord(port) }));
}

function withSubsets(object: GivenObject): GivenObject {
  const { subsets: given, ...rest } = object;
  const subsets = arrayOf(given).map((value) => {
    const subset = asRecord(value);
    const ports = arrayOf(subset.ports).map((port) => ({ protocol: 'TCP', ...asRecord(port) }));
    return ports.length > 0 ? { ...subset, ports } : subset;
  });
  return { ...rest, metadata: object.metadata, ...(subsets.length > 0 ? { subsets } : {}) };
}

/** The status in a create request is ignored: a new Pod is pending. */
function newPod(object: GivenObject): GivenObject {
  const spec = { restartPolicy: 'Always', terminationGracePeriodSeconds: 30, ...asRecord(object.spec) };
  return { ...object, spec, status: { phase: 'Pending' } };
}

function newNamespace(object: GivenObject): GivenObject {
  const { labels, name = '' } = object.metadata;
  const metadata = { ...object.metadata, labels: { 'kubernetes.io/metadata.name': name, ...labels } };
  return { ...object, metadata, spec: { finalizers: ['kubernetes'] }, status: { phase: 'Active' } };
}
