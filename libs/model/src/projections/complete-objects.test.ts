import { describe, expect, it } from 'vitest';
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

describe('of an object with all fields', () => {
  it('a Service has those of its spec, and only the annotations that enable hints (F1)', () => {
    expect(projectService(rawService)).toEqual({
      namespace: 'shop',
      name: 'web',
      uid: 'service-uid',
      creationTimestamp: '2026-01-01T00:00:00Z',
      deleting: true,
      labels: { app: 'web' },
      annotations: {
        'service.kubernetes.io/topology-aware-hints': 'Disabled',
        'service.kubernetes.io/topology-mode': 'Auto',
      },
      type: 'ClusterIP',
      selector: { tier: 'front' },
      clusterIP: '10.96.0.1',
      ipFamilies: ['IPv4'],
      ports: [{ name: 'http', protocol: 'TCP', port: 80, targetPort: 8080, appProtocol: 'h2c' }],
      publishNotReadyAddresses: true,
      trafficDistribution: 'PreferClose',
      internalTrafficPolicy: 'Local',
      externalTrafficPolicy: 'Local',
    });
  });

  it('a Pod has its addresses, state and named ports, and its labels apart', () => {
    expect(projectPod(rawPod)).toEqual({
      pod: {
        namespace: 'shop',
        name: 'web-0',
        uid: 'pod-uid',
        ip: '10.0.0.1',
        ips: ['10.0.0.1', 'fd00::1'],
        nodeName: 'node-a',
        hostname: 'zero',
        subdomain: 'web',
        terminal: false,
        terminating: true,
        ready: true,
        readyTransitionTime: '2026-01-01T00:01:00Z',
        ports: [
          { name: 'http', protocol: 'TCP', containerPort: 8080 },
          { name: 'dns', protocol: 'UDP', containerPort: 53 },
        ],
      },
      labels: { app: 'web' },
    });
  });

  it('a Node has its zone and CPU', () => {
    const node = { name: 'node-a', zone: 'a', ready: true, controlPlane: false, allocatableMilliCpu: 3500 };
    expect(projectNode(rawNode)).toEqual(node);
  });

  it('Endpoints and EndpointSlices have everything, in the same lists and maps', () => {
    const endpoints = projectEndpoints(rawEndpoints);
    const slice = projectEndpointSlice(rawSlice);
    expect(endpoints).toEqual(rawEndpoints);
    expect(slice).toEqual(rawSlice);
    expect(endpoints.subsets).toBe(rawEndpoints.subsets);
    expect(slice.ports).toBe(rawSlice.ports);
    expect(slice.endpoints?.[0]).toBe(rawSlice.endpoints[0]);
    for (const { metadata } of [endpoints, slice]) {
      expect(metadata.labels).toBe(rawSlice.metadata.labels);
      expect(metadata.ownerReferences).toBe(rawSlice.metadata.ownerReferences);
    }
  });
});

describe('the readiness of a Pod', () => {
  const readiness = (...conditions: object[]) => {
    const { ready, unready } = projectPod(withValueAt(rawPod, 'status.conditions', conditions)).pod;
    return { ready, unready };
  };
  const condition = { type: 'Ready', status: 'False', reason: 'ContainersNotReady', message: 'containers: [web]' };

  it('says why it is not ready, for people', () => {
    const { status, reason, message } = condition;
    expect(readiness(condition)).toEqual({ ready: false, unready: { status, reason, message } });
    expect(readiness({ type: 'Ready', status: 'True', reason: 'Odd' })).toEqual({ ready: true, unready: undefined });
    expect(readiness()).toEqual({ ready: false, unready: undefined });
  });

  it('has at most 200 characters of the message', () => {
    const message = `${'x'.repeat(200)}y`;
    expect(readiness({ ...condition, message }).unready?.message).toBe('x'.repeat(200));
  });

  it('is not malformed because of texts for people', () => {
    const unready = { status: 'False', reason: '', message: '' };
    expect(readiness({ ...condition, reason: 7, message: ['x'] }).unready).toEqual(unready);
  });

  it('is the first condition of type Ready', () => {
    expect(readiness({ type: 'Ready', status: 'False' }, { type: 'Ready', status: 'True' }).ready).toBe(false);
    expect(readiness({ type: 'Initialized', status: 'True' }).ready).toBe(false);
  });
});

describe('the ports of a Pod', () => {
  it('have a name', () => {
    const ports = [{ containerPort: 1 }, { name: 'http', containerPort: 80 }];
    const { pod } = projectPod(withValueAt(rawPod, 'spec', { containers: [{ ports }] }));
    expect(pod.ports).toEqual([{ name: 'http', protocol: '', containerPort: 80 }]);
  });

  it('are those of containers that run as long as the Pod (C5)', () => {
    const container = (restartPolicy?: string) => ({ restartPolicy, ports: [{ name: 'a', containerPort: 1 }] });
    const initContainers = [container(), container('OnFailure')];
    expect(projectPod(withValueAt(rawPod, 'spec', { initContainers })).pod.ports).toEqual([]);
  });
});

describe('a Node', () => {
  const labels = (label: string) => projectNode({ metadata: { name: 'n', labels: { [label]: '' } } });
  const ready = (...conditions: object[]) => projectNode({ metadata: { name: 'n' }, status: { conditions } }).ready;
  const cpu = (value: unknown) => projectNode({ metadata: { name: 'n' }, status: { allocatable: { cpu: value } } });

  it.each(['control-plane', 'master'])('with the role label %s is of the control plane (F2)', (role) => {
    expect(labels(`node-role.kubernetes.io/${role}`).controlPlane).toBe(true);
    expect(labels(`node-role.kubernetes.io/${role}-not`).controlPlane).toBe(false);
  });

  it('is ready if the first condition of type Ready is True', () => {
    const [yes, no] = [
      { type: 'Ready', status: 'True' },
      { type: 'Ready', status: 'False' },
    ];
    expect([ready(yes), ready(no), ready()]).toEqual([true, false, false]);
    expect([ready(yes, no), ready(no, yes)]).toEqual([true, false]);
    expect(ready({ type: 'Ready', status: 'Unknown' })).toBe(false);
    expect(ready({ type: 'DiskPressure', status: 'True' })).toBe(false);
  });

  it('has its CPU as a number or a text, and none if it is missing', () => {
    const given = [4, '4', null, undefined];
    expect(given.map((value) => cpu(value).allocatableMilliCpu)).toEqual([4000, 4000, 0, 0]);
    const malformed = { path: 'status.allocatable.cpu', expected: 'a quantity' };
    for (const value of [{}, ['4']]) expect(malformation(() => cpu(value))).toMatchObject(malformed);
  });
});
