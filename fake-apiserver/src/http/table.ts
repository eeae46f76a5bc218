import type { RawObject } from '@sluice/kubernetes';
import { asRecord, asString, humanDuration } from '@sluice/platform';
import { arrayOf } from '../server/object.ts';
import type { ResourceName } from '../server/resources.ts';

interface Column {
  readonly name: string;
  readonly cell: (object: RawObject, now: number) => string | number;
}

const spec = (object: RawObject) => asRecord(object.spec);
const status = (object: RawObject) => asRecord(object.status);
const metadata = (object: RawObject) => asRecord(object.metadata);
const named = (name: string, cell: Column['cell']): Column => ({ name, cell });
const orNone = (text: string) => (text === '' ? '<none>' : text);
const name = named('Name', (object) => asString(metadata(object).name));
const age = named('Age', (object, now) => duration(now - Date.parse(asString(metadata(object).creationTimestamp))));

/** The columns of `kubectl get`. */
const columns: Readonly<Record<ResourceName, readonly Column[]>> = {
  namespaces: [name, named('Status', (object) => asString(status(object).phase)), age],
  nodes: [name, named('Status', nodeReadiness), named('Roles', nodeRoles), age, named('Version', nodeVersion)],
  services: [
    name,
    named('Type', (object) => asString(spec(object).type)),
    named('Cluster-IP', (object) => orNone(asString(spec(object).clusterIP))),
    named('External-IP', () => '<none>'),
    named('Port(s)', servicePorts),
    age,
  ],
  pods: [name, named('Ready', podReadiness), named('Status', podPhase), named('Restarts', podRestarts), age],
  endpoints: [name, named('Endpoints', endpointsAddresses), age],
  endpointslices: [
    name,
    named('AddressType', (object) => asString(object.addressType)),
    named('Ports', (object) => orUnset(shortList(arrayOf(object.ports).map((port) => String(asRecord(port).port))))),
    named('Endpoints', (object) =>
      orUnset(shortList(arrayOf(object.endpoints).flatMap((one) => arrayOf(asRecord(one).addresses).map(asString)))),
    ),
    age,
  ],
  events: [
    named('Last Seen', (object, now) => duration(now - Date.parse(asString(object.lastTimestamp)))),
    named('Type', (object) => asString(object.type)),
    named('Reason', (object) => asString(object.reason)),
    named('Object', (object) => {
      const about = asRecord(object.involvedObject);
      return `${asString(about.kind).toLowerCase()}/${asString(about.name)}`;
    }),
    named('Message', (object) => asString(object.message)),
  ],
};

/** A meta/v1 Table, the representation that kubectl prints. */
export function tableOf(resource: ResourceName, objects: readonly RawObject[], now: number): RawObject {
  return {
    kind: 'Table',
    apiVersion: 'meta.k8s.io/v1',
    columnDefinitions: columns[resource].map((column) => ({
      name: column.name,
      type: 'string',
      format: column.name === 'Name' ? 'name' : '',
      description: '',
      priority: 0,
    })),
    rows: objects.map((object) => ({
      cells: columns[resource].map((column) => column.cell(object, now)),
      object: { kind: 'PartialObjectMetadata', apiVersion: 'meta.k8s.io/v1', metadata: object.metadata },
    })),
  };
}

function nodeReadiness(object: RawObject): string {
  const conditions = arrayOf(status(object).conditions).map(asRecord);
  if (conditions.length === 0) return 'Unknown';
  return conditions.some(({ type, status: met }) => type === 'Ready' && met === 'True') ? 'Ready' : 'NotReady';
}

function nodeRoles(object: RawObject): string {
  const prefix = 'node-role.kubernetes.io/';
  const labels = Object.keys(asRecord(metadata(object).labels));
  return orNone(labels.flatMap((key) => (key.startsWith(prefix) ? key.slice(prefix.length) : [])).join());
}

function nodeVersion(object: RawObject): string {
  return asString(asRecord(status(object).nodeInfo).kubeletVersion);
}

function servicePorts(object: RawObject): string {
  const ports = arrayOf(spec(object).ports).map(asRecord);
  return orNone(ports.map(({ port, protocol }) => `${port}/${asString(protocol) || 'TCP'}`).join());
}

function podReadiness(object: RawObject): string {
  const containers = arrayOf(status(object).containerStatuses).map(asRecord);
  const { containers: own, initContainers } = spec(object);
  const sidecars = arrayOf(initContainers).filter((container) => asRecord(container).restartPolicy === 'Always');
  const all = arrayOf(own).length + sidecars.length;
  return `${containers.filter(({ ready }) => ready === true).length}/${all}`;
}

function podPhase(object: RawObject): string {
  return metadata(object).deletionTimestamp === undefined ? asString(status(object).phase) : 'Terminating';
}

function podRestarts(object: RawObject): number {
  const containers = arrayOf(status(object).containerStatuses).map(asRecord);
  return containers.reduce((sum, { restartCount }) => sum + (typeof restartCount === 'number' ? restartCount : 0), 0);
}

function endpointsAddresses(object: RawObject): string {
  const all = arrayOf(object.subsets)
    .map(asRecord)
    .flatMap(({ addresses, ports }) =>
      arrayOf(addresses).flatMap((address) => {
        const ip = asString(asRecord(address).ip);
        const numbers = arrayOf(ports).map((port) => asRecord(port).port);
        return numbers.length === 0
          ? [ip]
          : numbers.map((port) => (ip.includes(':') ? `[${ip}]:${port}` : `${ip}:${port}`));
      }),
    );
  return orNone(shortList(all));
}

function shortList(items: readonly string[]): string {
  const shown = items.slice(0, 3).join();
  return items.length > 3 ? `${shown} + ${items.length - 3} more...` : shown;
}

function orUnset(text: string): string {
  return text === '' ? '<unset>' : text;
}

const duration = (ms: number): string => (Number.isFinite(ms) ? humanDuration(ms) : '<unknown>');
