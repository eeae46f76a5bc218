import {
  type ControllerDescriptor,
  type ControllerInputs,
  type ControllerMetricRow,
  endpointSlicePrefix,
  podToEndpoint,
  type Reconciled,
  type SyncCounts,
} from '@sluice/controllers';
import {
  type EndpointSlice,
  type Mutation,
  managedByLabel,
  type Service,
  serviceNameLabel,
  structurallyEqual,
} from '@sluice/model';

/** A fourth controller, for tests: a slice with only the ready addresses of each headless Service, for clients without conditions. */

const managedBy = 'ready-slices.example.com';

interface ReadyCounts extends SyncCounts {
  readonly ready: number;
}

const rows: Readonly<Record<string, ControllerMetricRow>> = {
  ready_addresses_per_sync: {
    type: 'histogram',
    help: 'Number of ready addresses on each Service sync',
    labels: ['identity'],
    buckets: [1, 10, 100],
  },
};

export const readySlicesController: ControllerDescriptor = {
  name: 'readyslices',
  flags: ['ready-slices-controller'],
  settings: {
    batchPeriod: {
      flag: 'ready-slices-updates-batch-period',
      about: 'time to batch Pod changes before updating ready slices',
    },
    concurrentSyncs: {
      flag: 'concurrent-ready-slice-syncs',
      about: 'the same for the ready slices controller',
      max: 50,
    },
  },
  client: 'ready-slices-controller',
  managedBy,
  reads: ['services', 'pods'],
  writes: 'endpointslices',
  reconcile,
  trackers: {},
  events: {
    component: 'ready-slices-controller',
    reasons: ['FailedToUpdateReadySlice'],
    failed: ({ service, failures }) =>
      failures.map(({ message }) => ({
        ...{ type: 'Warning', reason: 'FailedToUpdateReadySlice', message },
        regarding: { kind: 'Service', ...service },
      })),
  },
  metrics: {
    queue: 'ready_slices',
    own: {
      subsystem: 'ready_slices_controller',
      rows,
      open: (record) => ({
        decided: (identity, { ready }: ReadyCounts) => record('ready_addresses_per_sync', { identity }, ready),
        ended() {},
        completed() {},
      }),
    },
  },
};

function reconcile({ service, pods, slices, triggers, hints }: ControllerInputs): Reconciled {
  const isHeadless = service?.clusterIP === 'None' && service.selector !== null;
  const wanted = isHeadless ? wantedSlice(service, pods) : null;
  const [kept, ...surplus] = slices;
  const mutations: Mutation[] = (wanted === null ? slices : surplus).map(
    ({ metadata: { name, uid, resourceVersion } }) => ({
      ...{ verb: 'delete', resource: 'endpointslices', name },
      ...(uid !== undefined && { uid }),
      ...(resourceVersion !== undefined && { resourceVersion }),
    }),
  );
  if (wanted !== null && kept === undefined)
    mutations.push({ verb: 'create', resource: 'endpointslices', object: wanted });
  if (wanted !== null && kept !== undefined && !structurallyEqual(kept.endpoints ?? [], wanted.endpoints ?? [])) {
    const object: EndpointSlice = { ...kept, endpoints: wanted.endpoints ?? [] };
    mutations.push({ verb: 'update', resource: 'endpointslices', object });
  }
  const ready = wanted?.endpoints?.length ?? 0;
  const counted = { endpoints: ready, slices: 1, desiredSlices: 1, hinting: null };
  const counts: ReadyCounts | null = wanted === null ? null : { service: counted, ready };
  const groups = mutations.length === 0 ? [] : [{ mutations }];
  return { plan: { groups, events: [], incomplete: [] }, triggers, hints, counts };
}

function wantedSlice(service: Service, pods: ControllerInputs['pods']): EndpointSlice {
  const { namespace, name, uid } = service;
  const endpoints = pods
    .filter(({ pod }) => pod.ready && !pod.terminating && !pod.terminal)
    .map(({ pod, node }) => podToEndpoint(pod, node, service, 'IPv4'))
    .filter(({ addresses }) => addresses.length > 0)
    .sort((a, b) => ((a.targetRef?.name ?? '') < (b.targetRef?.name ?? '') ? -1 : 1));
  return {
    metadata: {
      ...{ name: '', generateName: endpointSlicePrefix(name), namespace },
      labels: { [serviceNameLabel]: name, [managedByLabel]: managedBy },
      ownerReferences: [{ apiVersion: 'v1', kind: 'Service', name, uid, controller: true, blockOwnerDeletion: true }],
    },
    addressType: 'IPv4',
    endpoints,
    ports: [],
  };
}
