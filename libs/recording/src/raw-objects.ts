import { type Pod, type Service, type StringMap, zoneLabel } from '@sluice/model';

/** A Kubernetes object in the form of the API, without kind and apiVersion. */
export type RawObject = Readonly<Record<string, unknown>>;

/** Says in each object that it is not complete. */
export const recordedAnnotation = 'sluice.io/recorded';

/** The Service as far as it is recorded. Its projection is the recorded one. */
export function rawService(service: Service): RawObject {
  const { namespace, name, uid, labels, annotations, ports, selector, clusterIP, ...rest } = service;
  const { creationTimestamp, deleting, type, ipFamilies, publishNotReadyAddresses, trafficDistribution } = rest;
  const { internalTrafficPolicy, externalTrafficPolicy } = rest;
  const recorded = 'without status, and of the annotations only those that matter for endpoints';
  return {
    metadata: {
      ...{ namespace, name, uid, labels, annotations: { ...annotations, [recordedAnnotation]: recorded } },
      ...(creationTimestamp !== '' && { creationTimestamp }),
      // When it was deleted is not recorded.
      ...(deleting && { deletionTimestamp: creationTimestamp || '1970-01-01T00:00:00Z' }),
    },
    spec: {
      ...{ type, ipFamilies, ports: ports.map(withoutNull) },
      ...(clusterIP !== '' && { clusterIP, clusterIPs: [clusterIP] }),
      ...(selector !== null && { selector }),
      ...(publishNotReadyAddresses && { publishNotReadyAddresses }),
      ...(trafficDistribution !== null && { trafficDistribution }),
      ...(internalTrafficPolicy !== undefined && { internalTrafficPolicy }),
      ...(externalTrafficPolicy !== undefined && { externalTrafficPolicy }),
    },
  };
}

export interface PodContext {
  /** Of the selectors that the Pod matches. Its other labels are not recorded. */
  readonly labels: StringMap;
  /** When it was first seen terminating, in milliseconds since the Unix epoch. */
  readonly terminatingSince: number;
}

/** The Pod as far as it is recorded, with one container in place of all. Its projection is the recorded one. */
export function rawPod(pod: Pod, { labels, terminatingSince }: PodContext): RawObject {
  const { namespace, name, uid, ip, ips, nodeName, hostname, subdomain, ports, details, ready } = pod;
  const grace = details?.gracePeriodSeconds ?? 0;
  const deletionTimestamp = new Date(terminatingSince + grace * 1_000).toISOString().replace(/\.\d+Z$/, 'Z');
  return {
    metadata: {
      ...{ namespace, name, uid, labels, annotations: podAnnotations(pod) },
      ...(pod.terminating && { deletionTimestamp, deletionGracePeriodSeconds: grace }),
      ...(details && details.owner !== '' && { ownerReferences: [ownerReference(details.owner)] }),
    },
    spec: {
      ...(nodeName !== '' && { nodeName }),
      ...(hostname !== '' && { hostname }),
      ...(subdomain !== '' && { subdomain }),
      ...(details && { terminationGracePeriodSeconds: grace }),
      containers: [{ name: 'recorded', ports: ports }],
    },
    status: {
      // Whether it succeeded is not recorded.
      phase: pod.terminal ? 'Failed' : ip === '' ? 'Pending' : 'Running',
      ...(ip !== '' && { podIP: ip }),
      podIPs: ips.map((one) => ({ ip: one })),
      conditions: conditionsOf(pod),
      containerStatuses: [{ name: 'recorded', ready, restartCount: 0 }],
    },
  };
}

function podAnnotations({ details, terminal }: Pod): StringMap {
  const { containers = [], preStop = [] } = details ?? {};
  return {
    [recordedAnnotation]: `labels of selectors only, one container for all${terminal ? ', Failed or Succeeded' : ''}`,
    ...(containers.length > 0 && { 'sluice.io/containers': containers.join('; ') }),
    ...(preStop.length > 0 && { 'sluice.io/pre-stop': preStop.map((hook) => hook || 'none').join('; ') }),
  };
}

/** `owner`: KIND NAME. */
function ownerReference(owner: string): RawObject {
  const [kind = '', name = ''] = owner.split(' ');
  return { apiVersion: apiVersions[kind] ?? 'v1', kind, name, uid: '', controller: true };
}

const apiVersions: Readonly<Record<string, string>> = {
  ReplicaSet: 'apps/v1',
  StatefulSet: 'apps/v1',
  DaemonSet: 'apps/v1',
  Job: 'batch/v1',
};

function conditionsOf({ ready, unready, readyTransitionTime, details }: Pod): readonly RawObject[] {
  const lastTransitionTime = readyTransitionTime === null ? {} : { lastTransitionTime: readyTransitionTime };
  // Without a condition, the Pod is not ready either, and that has no time.
  const state = ready
    ? { status: 'True' }
    : (unready ?? (readyTransitionTime === null ? undefined : { status: 'False' }));
  const { disruption = '', unscheduled = '' } = details ?? {};
  return [
    ...(unscheduled === '' ? [] : [{ type: 'PodScheduled', status: 'False', message: unscheduled }]),
    ...(state === undefined ? [] : [{ type: 'Ready', ...state, ...lastTransitionTime }]),
    ...(disruption === '' ? [] : [{ type: 'DisruptionTarget', status: 'True', reason: disruption }]),
  ];
}

/** The Node of a Pod. Its conditions are not recorded. */
export const rawNode = (name: string, zone: string): RawObject => ({
  metadata: {
    name,
    labels: { 'kubernetes.io/hostname': name, ...(zone !== '' && { [zoneLabel]: zone }) },
    annotations: { [recordedAnnotation]: 'only the zone' },
  },
});

const withoutNull = ({ appProtocol, ...port }: Service['ports'][number]) => ({
  ...port,
  ...(appProtocol !== null && { appProtocol }),
});
