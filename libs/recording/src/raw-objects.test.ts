import { projectNode, projectPod, projectService } from '@sluice/model';
import { aPodNamed, aService } from '@sluice/model/testing';
import { describe, expect, test } from 'vitest';
import { rawNode, rawPod, rawService } from './raw-objects.ts';

const context = { labels: { app: 'web' }, terminatingSince: Date.parse('2026-01-01T00:00:00.500Z') };

describe('the controllers read from a recorded object what they read from the original', () => {
  test.each([
    aService(),
    aService({ deleting: true, publishNotReadyAddresses: true, trafficDistribution: 'PreferClose' }),
    aService({ annotations: { 'service.kubernetes.io/topology-mode': 'Auto' }, type: 'NodePort' }),
    aService({ internalTrafficPolicy: 'Local', externalTrafficPolicy: 'Local' }),
    aService({ selector: null, clusterIP: 'None', creationTimestamp: '' }),
  ])('a Service', (service) => {
    expect(projectService(rawService(service))).toEqual(service);
  });

  test.each([
    aPodNamed('web-1', { hostname: 'zero', subdomain: 'web', ips: ['10.0.0.1', 'fd00::1'] }),
    aPodNamed('web-1', { ports: [{ name: 'dns', protocol: 'UDP', containerPort: 53 }] }),
    aPodNamed('web-1', { ready: false, readyTransitionTime: null, ip: '', ips: [], nodeName: '' }),
    aPodNamed('web-1', { ready: false, unready: { status: 'Unknown', reason: 'NodeLost', message: 'm' } }),
    aPodNamed('web-1', { terminal: true, ready: false, readyTransitionTime: null }),
    aPodNamed('web-1', { terminating: true }),
  ])('a Pod', (pod) => {
    expect(projectPod(rawPod(pod, context))).toEqual({ pod, labels: { app: 'web' } });
  });

  test('a Pod whose watcher did not say why it is not ready', () => {
    const pod = aPodNamed('web-1', { ready: false });
    expect(projectPod(rawPod(pod, context)).pod).toMatchObject(pod);
  });

  test('a Node', () => {
    expect(projectNode(rawNode('node-a', 'a'))).toMatchObject({ name: 'node-a', zone: 'a' });
  });
});

test('what explains a Pod is in its annotations, and when it is killed in its deletionTimestamp', () => {
  const details = {
    ...{ owner: 'ReplicaSet web-5d9', disruption: 'EvictionByEvictionAPI', gracePeriodSeconds: 30 },
    ...{ preStop: ['', 'sleep 5 s'], containers: ['app: waiting (CrashLoopBackOff), 3 restarts'] },
  };
  expect(rawPod(aPodNamed('web-1', { terminating: true, details }), context)).toMatchObject({
    metadata: {
      deletionTimestamp: '2026-01-01T00:00:30Z',
      ownerReferences: [{ apiVersion: 'apps/v1', kind: 'ReplicaSet', name: 'web-5d9', controller: true }],
      annotations: {
        'sluice.io/recorded': 'labels of selectors only, one container for all',
        'sluice.io/containers': 'app: waiting (CrashLoopBackOff), 3 restarts',
        'sluice.io/pre-stop': 'none; sleep 5 s',
      },
    },
    spec: { terminationGracePeriodSeconds: 30 },
    status: { conditions: [{ type: 'Ready' }, { type: 'DisruptionTarget', reason: 'EvictionByEvictionAPI' }] },
  });
});
