import { endpointController } from '@sluice/model';
import type { ControllerDescriptor } from '../controller.ts';
import { endpointsFailure } from '../failures/failure-events.ts';
import { reconcileEndpoints } from './reconcile-endpoints.ts';

export const endpointsController: ControllerDescriptor = {
  name: 'endpoints',
  flags: ['endpoints-controller', 'endpoint'],
  settings: {
    batchPeriod: {
      flag: 'endpoint-updates-batch-period',
      about: 'time to batch Pod changes before updating Endpoints',
    },
    concurrentSyncs: {
      flag: 'concurrent-endpoint-syncs',
      about:
        'maximum concurrent requests of the Endpoints controller per cluster; 0: only `writer.maxInFlight` bounds them',
      max: 1000,
    },
  },
  client: 'endpoint-controller',
  managedBy: endpointController,
  reads: ['services', 'pods'],
  writes: 'endpoints',
  reconcile: ({ endpoints, ...inputs }) => ({
    ...reconcileEndpoints({ ...inputs, existing: endpoints }),
    hints: null,
    counts: null,
  }),
  trackers: {},
  events: {
    component: 'endpoint-controller',
    reasons: ['FailedToCreateEndpoint', 'FailedToUpdateEndpoint'],
    failed: ({ service, failures }) => failures.flatMap((failure) => endpointsFailure(service, failure) ?? []),
  },
  metrics: { queue: 'endpoint' },
};
