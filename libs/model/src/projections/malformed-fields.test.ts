import { expect, it } from 'vitest';
import {
  malformation,
  rawEndpoints,
  rawNode,
  rawPod,
  rawService,
  rawSlice,
  withValueAt,
} from '../testing/raw-objects.ts';
import { projectNode } from './project-node.ts';
import { projectPod } from './project-pod.ts';
import { projectService } from './project-service.ts';
import { projectEndpointSlice, projectEndpoints } from './written-objects.ts';

interface Kind {
  readonly kind: string;
  readonly project: (raw: unknown) => unknown;
  readonly raw: object;
  /** Paths of all fields, keyed by the type they must have. */
  readonly fields: Readonly<Record<string, readonly string[]>>;
}

const below = (parent: string, ...names: string[]) => names.map((name) => `${parent}.${name}`);

/** Kinds of which only some fields are read. */
const projectedKinds: readonly Kind[] = [
  {
    kind: 'Service',
    project: projectService,
    raw: rawService,
    fields: {
      'an object': ['metadata', 'metadata.labels', 'metadata.annotations', 'spec', 'spec.selector', 'spec.ports[0]'],
      'a list': ['spec.ipFamilies', 'spec.ports'],
      'a string': [
        ...below('metadata', 'namespace', 'name', 'uid', 'creationTimestamp', 'deletionTimestamp'),
        ...below('metadata', 'labels["app"]', 'annotations["note"]'),
        ...below('spec', 'type', 'selector["tier"]', 'clusterIP', 'ipFamilies[0]', 'trafficDistribution'),
        ...below('spec', 'internalTrafficPolicy', 'externalTrafficPolicy'),
        ...below('spec.ports[0]', 'name', 'protocol', 'appProtocol'),
      ],
      'a boolean': ['spec.publishNotReadyAddresses'],
      'a 32-bit integer': ['spec.ports[0].port'],
      'an integer or a string': ['spec.ports[0].targetPort'],
    },
  },
  {
    kind: 'Pod',
    project: projectPod,
    raw: rawPod,
    fields: {
      'an object': [
        ...['metadata', 'metadata.labels', 'spec', 'status', 'status.podIPs[0]', 'status.conditions[0]'],
        ...below('spec', 'containers[0]', 'containers[0].ports[0]', 'initContainers[0]', 'initContainers[0].ports[0]'),
      ],
      'a list': [
        ...below('spec', 'containers', 'containers[0].ports', 'initContainers', 'initContainers[0].ports'),
        ...below('status', 'podIPs', 'conditions'),
      ],
      'a string': [
        ...below('metadata', 'namespace', 'name', 'uid', 'deletionTimestamp', 'labels["app"]'),
        ...below('spec', 'nodeName', 'hostname', 'subdomain', 'initContainers[0].restartPolicy'),
        ...below('spec.containers[0].ports[0]', 'name', 'protocol'),
        ...below('status', 'phase', 'podIP', 'podIPs[1].ip'),
        ...below('status.conditions[0]', 'type', 'status', 'lastTransitionTime'),
      ],
      'a 32-bit integer': ['spec.containers[0].ports[0].containerPort'],
    },
  },
  {
    kind: 'Node',
    project: projectNode,
    raw: rawNode,
    fields: {
      'an object': ['metadata', 'metadata.labels', 'status', 'status.conditions[0]', 'status.allocatable'],
      'a list': ['status.conditions'],
      'a string': [...below('metadata', 'name', 'labels["os"]'), ...below('status.conditions[0]', 'type', 'status')],
      'a quantity': ['status.allocatable.cpu'],
    },
  },
];

const metadataFields: Kind['fields'] = {
  'an object': ['metadata', 'metadata.labels', 'metadata.annotations', 'metadata.ownerReferences[0]'],
  'a list': ['metadata.ownerReferences', 'metadata.finalizers'],
  'a string': [
    ...below('metadata', 'namespace', 'name', 'uid', 'resourceVersion', 'generateName'),
    ...below('metadata', 'creationTimestamp', 'deletionTimestamp', 'labels["app"]', 'annotations["note"]'),
    ...below('metadata.ownerReferences[0]', 'apiVersion', 'kind', 'name', 'uid'),
    'metadata.finalizers[0]',
  ],
  'an integer': ['metadata.generation'],
};

const addressFields = (path: string): Kind['fields'] => ({
  'an object': [path, `${path}.targetRef`],
  'a string': [...below(path, 'ip', 'hostname', 'nodeName'), ...targetFields(path)],
});
const targetFields = (path: string) =>
  below(`${path}.targetRef`, 'kind', 'namespace', 'name', 'uid', 'apiVersion', 'resourceVersion', 'fieldPath');

/** Kinds that are kept as a whole. */
const keptKinds: readonly Kind[] = [
  { kind: 'Endpoints', project: projectEndpoints, raw: rawEndpoints, fields: metadataFields },
  { kind: 'EndpointSlice', project: projectEndpointSlice, raw: rawSlice, fields: metadataFields },
  ...['subsets[0].addresses[0]', 'subsets[0].notReadyAddresses[0]'].map((path) => ({
    ...{ kind: 'Endpoints', project: projectEndpoints, raw: rawEndpoints },
    fields: addressFields(path),
  })),
  {
    kind: 'Endpoints',
    project: projectEndpoints,
    raw: rawEndpoints,
    fields: {
      'an object': ['subsets[0]', 'subsets[0].ports[0]'],
      'a list': ['subsets', ...below('subsets[0]', 'addresses', 'notReadyAddresses', 'ports')],
      'a string': below('subsets[0].ports[0]', 'name', 'protocol', 'appProtocol'),
      'a 32-bit integer': ['subsets[0].ports[0].port'],
    },
  },
  {
    kind: 'EndpointSlice',
    project: projectEndpointSlice,
    raw: rawSlice,
    fields: {
      'an object': [
        ...['endpoints[0]', 'ports[0]'],
        ...below('endpoints[0]', 'conditions', 'targetRef', 'deprecatedTopology', 'hints'),
        ...below('endpoints[0].hints', 'forZones[0]', 'forNodes[0]'),
      ],
      'a list': ['endpoints', 'ports', ...below('endpoints[0]', 'addresses', 'hints.forZones', 'hints.forNodes')],
      'a string': [
        'addressType',
        ...below('endpoints[0]', 'addresses[0]', 'hostname', 'nodeName', 'zone', 'deprecatedTopology["region"]'),
        ...below('endpoints[0].hints', 'forZones[0].name', 'forNodes[0].name'),
        ...targetFields('endpoints[0]'),
        ...below('ports[0]', 'name', 'protocol', 'appProtocol'),
      ],
      'a boolean': below('endpoints[0].conditions', 'ready', 'serving', 'terminating'),
      'a 32-bit integer': ['ports[0].port'],
    },
  },
];

const fieldsOf = (kinds: readonly Kind[]) =>
  kinds.flatMap(({ fields, ...kind }) =>
    Object.entries(fields).flatMap(([expected, paths]) =>
      paths.map((path) => [kind.kind, path, expected, kind] as const),
    ),
  );

it.each(fieldsOf([...projectedKinds, ...keptKinds]))(
  '%s: %s is rejected if it is not %s',
  (kind, path, expected, { project, raw }) => {
    const wrong = expected === 'a boolean' ? 'true' : true;
    expect(malformation(() => project(withValueAt(raw, path, wrong)))).toMatchObject({ kind, path, expected });
  },
);

it.each(fieldsOf(projectedKinds).filter(([, path]) => path !== 'metadata' && path !== 'metadata.name'))(
  '%s: a null %s reads as a missing one, in a list or map as an empty one',
  (_, path, expected, { project, raw }) => {
    const empty = expected === 'an object' ? {} : '';
    const instead = path.endsWith(']') ? empty : undefined;
    expect(project(withValueAt(raw, path, null))).toEqual(project(withValueAt(raw, path, instead)));
  },
);
