import { randomUid, timestamp } from '@sluice/fake-apiserver';
import type { RawObject } from '@sluice/kubernetes';
import type { Random } from '@sluice/platform';
import type { ContainerSpec, WorkloadSpec } from './sample-objects.ts';

/** A revision of a workload's Pod template. */
export interface Revision {
  /** Hash of the Pod template, used in Pod names and labels. */
  readonly hash: string;
  readonly version: string;
  /** uid of the ReplicaSet, or of the StatefulSet. */
  readonly ownerUid: string;
}

export function newRevision(random: Random, hash: string, version: string): Revision {
  return { hash, version, ownerUid: randomUid(random) };
}

/** The Pod that a workload creates, before scheduling. */
export function podObject(workload: WorkloadSpec, revision: Revision, name: string): RawObject {
  const { namespace, containers, sidecar, subdomain } = workload;
  const labels = { app: workload.name, 'app.kubernetes.io/version': revision.version };
  const stateful = workload.kind === 'StatefulSet';
  return {
    metadata: {
      namespace,
      name,
      labels: stateful
        ? { ...labels, 'apps.kubernetes.io/pod-index': name.slice(workload.name.length + 1) }
        : { ...labels, 'pod-template-hash': revision.hash },
      ownerReferences: [
        {
          apiVersion: 'apps/v1',
          kind: stateful ? 'StatefulSet' : 'ReplicaSet',
          name: stateful ? workload.name : `${workload.name}-${revision.hash}`,
          uid: revision.ownerUid,
          controller: true,
          blockOwnerDeletion: true,
        },
      ],
    },
    spec: {
      containers: containers.map((container) => containerObject(container, revision.version)),
      ...(sidecar ? { initContainers: [{ ...containerObject(sidecar, '1.34.0'), restartPolicy: 'Always' }] } : {}),
      ...(subdomain === undefined ? {} : { hostname: name, subdomain }),
    },
  };
}

function containerObject({ name, image, ports }: ContainerSpec, version: string): RawObject {
  return {
    name,
    image: `registry.example.com/${image}:${version}`,
    ports: ports.map((port) => ({ protocol: 'TCP', ...port })),
    readinessProbe: { tcpSocket: { port: ports[0]?.containerPort }, periodSeconds: 5, failureThreshold: 2 },
  };
}

/** State from which the kubelet writes a Pod's status. Times are in milliseconds since the Unix epoch. */
export interface PodState {
  readonly ips: readonly string[];
  readonly hostIP: string;
  readonly ready: boolean;
  /** Time of the last change of readiness. */
  readonly readySince: number;
  readonly startedAt: number;
  readonly restarts: number;
  readonly containers: readonly string[];
}

/** The status of a running Pod. */
export function podStatus(state: PodState): RawObject {
  const started = timestamp(state.startedAt);
  const changed = timestamp(state.readySince);
  const condition = (type: string, met: boolean, time: string) => ({
    type,
    status: met ? 'True' : 'False',
    lastTransitionTime: time,
    ...(met ? {} : { reason: 'ContainersNotReady' }),
  });
  return {
    phase: 'Running',
    hostIP: state.hostIP,
    podIP: state.ips[0] ?? '',
    podIPs: state.ips.map((ip) => ({ ip })),
    startTime: started,
    conditions: [
      condition('PodScheduled', true, started),
      condition('Initialized', true, started),
      condition('ContainersReady', state.ready, changed),
      condition('Ready', state.ready, changed),
    ],
    containerStatuses: state.containers.map((name) => ({
      name,
      ready: state.ready,
      started: true,
      restartCount: state.restarts,
      state: { running: { startedAt: started } },
    })),
  };
}
