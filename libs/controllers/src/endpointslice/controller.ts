import { endpointSliceController } from '@sluice/model';
import type { ControllerDescriptor } from '../controller.ts';
import { endpointSliceFailure } from '../failures/failure-events.ts';
import { endpointSliceMetricRows, endpointSliceMetrics } from './metrics.ts';
import { reconcileEndpointSlices } from './reconcile-endpointslices.ts';

export const endpointSlicesController: ControllerDescriptor = {
  name: 'endpointslice',
  flags: ['endpointslice-controller', 'endpointslice'],
  settings: {
    batchPeriod: {
      flag: 'endpointslice-updates-batch-period',
      about: 'time to batch Pod changes before updating EndpointSlices',
    },
    concurrentSyncs: {
      flag: 'concurrent-service-endpoint-syncs',
      about: 'the same for the EndpointSlice controller',
      max: 50,
    },
  },
  client: 'endpointslice-controller',
  managedBy: endpointSliceController,
  reads: ['services', 'pods', 'nodes'],
  writes: 'endpointslices',
  owner: 'services',
  reconcile: reconcileEndpointSlices,
  trackers: {},
  compacts: true,
  events: {
    component: 'endpoint-slice-controller',
    reasons: ['FailedToUpdateEndpointSlices', 'TopologyAwareHintsEnabled', 'TopologyAwareHintsDisabled'],
    failed({ service, failures, incomplete }) {
      const event = endpointSliceFailure(service, failures, incomplete);
      return event === null ? [] : [event];
    },
  },
  metrics: {
    queue: 'endpoint_slice',
    own: { subsystem: 'endpoint_slice_controller', rows: endpointSliceMetricRows, open: endpointSliceMetrics },
  },
};
