import { describe, expect, it } from 'vitest';
import { malformation } from '../testing/raw-objects.ts';
import { topologyModeAnnotation } from '../well-known.ts';
import { milliQuantity, projectNode } from './project-node.ts';
import { projectPod } from './project-pod.ts';
import { projectService } from './project-service.ts';
import { projectEndpointSlice, projectEndpoints } from './written-objects.ts';

describe('projectService', () => {
  it('fills in defaults for missing and null fields', () => {
    const service = projectService({ metadata: { name: 'web', labels: null }, spec: { selector: null, ports: [{}] } });
    expect(service).toStrictEqual({
      namespace: '',
      name: 'web',
      uid: '',
      creationTimestamp: '',
      deleting: false,
      labels: {},
      annotations: {},
      type: '',
      selector: null,
      clusterIP: '',
      ipFamilies: [],
      ports: [{ name: '', protocol: '', port: 0, targetPort: 0, appProtocol: null }],
      publishNotReadyAddresses: false,
      trafficDistribution: null,
    });
  });

  it('leaves the default of traffic policies out', () => {
    const policies = { internalTrafficPolicy: 'Cluster', externalTrafficPolicy: 'Local' };
    const service = projectService({ metadata: { name: 'web' }, spec: policies });
    expect(service).not.toHaveProperty('internalTrafficPolicy');
    expect(service.externalTrafficPolicy).toBe('Local');
  });

  it('distinguishes an empty selector from none, and drops irrelevant annotations', () => {
    const service = projectService({
      metadata: {
        name: 'web',
        annotations: { note: 'x', [topologyModeAnnotation]: 'Auto' },
        deletionTimestamp: '2024-01-01T00:00:00Z',
      },
      spec: { selector: {}, ports: [{ port: 80, targetPort: 'http', appProtocol: '' }] },
    });
    expect(service.selector).toEqual({});
    expect(service.annotations).toEqual({ [topologyModeAnnotation]: 'Auto' });
    expect(service.deleting).toBe(true);
    expect(service.ports[0]).toMatchObject({ targetPort: 'http', appProtocol: '' });
  });

  it('names the field of the wrong type', () => {
    const raw = { metadata: { name: 'web', namespace: 'shop' }, spec: { ports: [{ port: 80 }, { port: '81' }] } };
    expect(malformation(() => projectService(raw))).toEqual({
      code: 'MALFORMED_OBJECT',
      kind: 'Service',
      namespace: 'shop',
      objectName: 'web',
      path: 'spec.ports[1].port',
      expected: 'a 32-bit integer',
    });
  });

  it.each([
    ['no object', null, 'metadata.name'],
    ['a list', [], 'the object'],
    ['labels', { metadata: { name: 'a', labels: { x: 1 } } }, 'metadata.labels["x"]'],
    ['a time', { metadata: { name: 'a', creationTimestamp: 'now' } }, 'metadata.creationTimestamp'],
    ['a target port', { metadata: { name: 'a' }, spec: { ports: [{ targetPort: true }] } }, 'spec.ports[0].targetPort'],
    [
      'part of a target port',
      { metadata: { name: 'a' }, spec: { ports: [{ targetPort: 1.5 }] } },
      'spec.ports[0].targetPort',
    ],
    ['families', { metadata: { name: 'a' }, spec: { ipFamilies: ['IPv4', 6] } }, 'spec.ipFamilies[1]'],
    [
      'a boolean',
      { metadata: { name: 'a' }, spec: { publishNotReadyAddresses: 'yes' } },
      'spec.publishNotReadyAddresses',
    ],
  ])('rejects %s', (_, raw, path) => {
    expect(malformation(() => projectService(raw)).path).toBe(path);
  });
});

describe('projectPod', () => {
  it('reads readiness, termination, addresses and named ports in lookup order (C1, C2, C5, C15)', () => {
    const { pod, labels } = projectPod({
      metadata: { name: 'web-1', namespace: 'shop', uid: 'u', labels: { app: 'web' } },
      spec: {
        nodeName: 'node-a',
        containers: [{ ports: [{ name: 'http', containerPort: 8080, protocol: 'TCP' }, { containerPort: 1 }] }, {}],
        initContainers: [
          { restartPolicy: 'Always', ports: [{ name: 'side', containerPort: 9, protocol: 'UDP' }] },
          { ports: [{ name: 'done', containerPort: 10 }] },
        ],
      },
      status: {
        phase: 'Succeeded',
        podIP: '10.0.0.1',
        podIPs: [{ ip: '10.0.0.1' }, { ip: 'fd00::1' }],
        conditions: [
          { type: 'PodScheduled', status: 'True' },
          { type: 'Ready', status: 'True', lastTransitionTime: '2024-01-01T02:00:00+02:00' },
          { type: 'Ready', status: 'False' },
        ],
      },
    });
    expect(labels).toEqual({ app: 'web' });
    expect(pod).toMatchObject({ ready: true, terminal: true, terminating: false, ips: ['10.0.0.1', 'fd00::1'] });
    expect(pod.readyTransitionTime).toBe('2024-01-01T00:00:00Z');
    expect(pod.ports.map(({ name }) => name)).toEqual(['http', 'side']);
  });

  it.each([
    ['True', true],
    ['False', false],
    ['Unknown', false],
  ])('takes a Ready condition of %s as ready: %s (C1)', (status, ready) => {
    const conditions = [{ type: 'Ready', status }];
    expect(projectPod({ metadata: { name: 'web-1' }, status: { conditions } }).pod.ready).toBe(ready);
  });

  it.each([
    ['Failed', true],
    ['Succeeded', true],
    ['Running', false],
    ['Unknown', false],
  ])('takes a Pod in phase %s as finished: %s (C2)', (phase, terminal) => {
    expect(projectPod({ metadata: { name: 'web-1' }, status: { phase } }).pod.terminal).toBe(terminal);
  });

  it('accepts a Pod that has just been created', () => {
    const { pod } = projectPod({ metadata: { name: 'web-1' }, spec: { containers: [] } });
    expect(pod).toMatchObject({ ip: '', ips: [], ready: false, readyTransitionTime: null, nodeName: '' });
  });

  it('reports the path inside nested lists', () => {
    const raw = { metadata: { name: 'a' }, spec: { containers: [{}, { ports: [{ name: 7 }] }] } };
    expect(malformation(() => projectPod(raw)).path).toBe('spec.containers[1].ports[0].name');
  });
});

describe('projectNode', () => {
  it('reads zone, readiness, role and CPU', () => {
    const labels = { 'topology.kubernetes.io/zone': 'a', 'node-role.kubernetes.io/master': '' };
    const status = { allocatable: { cpu: '3500m' }, conditions: [{ type: 'Ready', status: 'True' }] };
    const node = projectNode({ metadata: { name: 'n', labels }, status });
    expect(node).toEqual({ name: 'n', zone: 'a', ready: true, controlPlane: true, allocatableMilliCpu: 3500 });
    expect(projectNode({ metadata: { name: 'n' } }).allocatableMilliCpu).toBe(0);
  });

  it('rejects an invalid quantity', () => {
    const raw = { metadata: { name: 'n' }, status: { allocatable: { cpu: 'many' } } };
    expect(malformation(() => projectNode(raw)).path).toBe('status.allocatable.cpu');
  });

  it.each([
    ['4', 4000],
    ['0', 0],
    ['100m', 100],
    ['1.5', 1500],
    ['.5', 500],
    ['0.0001', 1],
    ['1u', 1],
    ['1000u', 1],
    ['1001u', 2],
    ['1500000n', 2],
    ['2k', 2_000_000],
    ['1Ki', 1_024_000],
    ['1e3', 1_000_000],
    ['1E-3', 1],
    ['-1500m', -1500],
    ['8E', Number.MAX_SAFE_INTEGER],
    ['-8E', -Number.MAX_SAFE_INTEGER],
    ['1e999', Number.MAX_SAFE_INTEGER],
    ['9007199254740991m', Number.MAX_SAFE_INTEGER],
    ['+1.', 1000],
    ['1e+3', 1_000_000],
    ['3M', 3_000_000_000],
    ['1Mi', 1_048_576_000],
    ['1e1000', null],
    ['1e', null],
    ['1constructor', null],
    ['x1', null],
    ['', null],
    ['.', null],
    ['1x', null],
    ['1 ', null],
  ])('%j is %s milli-units (L6)', (text, milli) => {
    expect(milliQuantity(text)).toBe(milli);
  });
});

describe('projectEndpoints and projectEndpointSlice', () => {
  it('keep the API shape without managedFields, kind and apiVersion (A8)', () => {
    const metadata = { name: 'web-1', namespace: 'shop', managedFields: [{}], labels: { a: 'b' }, other: 1 };
    const endpoint = { addresses: ['10.0.0.1'], conditions: { ready: true }, novelty: { deep: 1 } };
    const raw = {
      kind: 'EndpointSlice',
      apiVersion: 'discovery.k8s.io/v1',
      metadata,
      addressType: 'IPv4',
      endpoints: [endpoint],
      ports: null,
    };
    expect(projectEndpointSlice(raw)).toEqual({
      metadata: { name: 'web-1', namespace: 'shop', labels: { a: 'b' }, other: 1 },
      addressType: 'IPv4',
      endpoints: [endpoint],
      ports: null,
    });
    const subsets = [{ addresses: [{ ip: '10.0.0.1', targetRef: null }], notReadyAddresses: null }];
    expect(projectEndpoints({ kind: 'Endpoints', metadata, subsets })).toEqual({
      metadata: { name: 'web-1', namespace: 'shop', labels: { a: 'b' }, other: 1 },
      subsets,
    });
  });

  it('drop null fields of endpoints', () => {
    const endpoints = [{ addresses: null, hostname: null, zone: 'a' }];
    const slice = projectEndpointSlice({ metadata: { name: 's' }, addressType: 'IPv4', endpoints });
    expect(slice.endpoints).toEqual([{ addresses: [], zone: 'a' }]);
  });

  it.each([
    ['addresses', { endpoints: [{ addresses: [1] }] }, 'endpoints[0].addresses[0]'],
    ['conditions', { endpoints: [{ conditions: { ready: 'yes' } }] }, 'endpoints[0].conditions.ready'],
    ['hints', { endpoints: [{ hints: { forZones: [{ name: 1 }] } }] }, 'endpoints[0].hints.forZones[0].name'],
    ['ports', { ports: [{ port: 1.5 }] }, 'ports[0].port'],
    ['owners', { metadata: { name: 's', ownerReferences: [{ uid: 1 }] } }, 'metadata.ownerReferences[0].uid'],
    ['part of a generation', { metadata: { name: 's', generation: 1.5 } }, 'metadata.generation'],
    ['generation', { metadata: { name: 's', generation: '1' } }, 'metadata.generation'],
  ])('reject %s of the wrong type', (_, fields, path) => {
    expect(
      malformation(() => projectEndpointSlice({ metadata: { name: 's' }, addressType: 'IPv4', ...fields })).path,
    ).toBe(path);
  });

  it('reject an address without a text', () => {
    const raw = { metadata: { name: 'e' }, subsets: [{ notReadyAddresses: [{ ip: 4 }] }] };
    expect(malformation(() => projectEndpoints(raw)).path).toBe('subsets[0].notReadyAddresses[0].ip');
  });
});
