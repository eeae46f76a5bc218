import { endpointSliceMirroringController } from '@sluice/model';
import type { ControllerDescriptor, FailedPlan } from '../controller.ts';
import { aggregateText } from '../failures/aggregate-text.ts';
import { cleanUpFailureText, mirroringFailureText } from '../failures/failure-events.ts';
import { mirroringMetricRows, mirroringMetrics } from './metrics.ts';
import { isMirrorable, reconcileMirroring } from './reconcile-mirroring.ts';

export const mirroringController: ControllerDescriptor = {
  name: 'endpointslicemirroring',
  flags: ['endpointslice-mirroring-controller', 'endpointslicemirroring'],
  settings: {
    batchPeriod: {
      flag: 'mirroring-endpointslice-updates-batch-period',
      about: 'time to wait before repairing mirrored EndpointSlices',
    },
    concurrentSyncs: {
      flag: 'mirroring-concurrent-service-endpoint-syncs',
      about: 'the same for the EndpointSliceMirroring controller',
      max: 50,
    },
  },
  client: 'endpointslicemirroring-controller',
  managedBy: endpointSliceMirroringController,
  reads: ['services', 'endpoints'],
  writes: 'endpointslices',
  owner: 'endpoints',
  reconcile: (inputs) => ({ ...reconcileMirroring(inputs), triggers: null, hints: null }),
  trackers: {
    unchanged: true,
    needsNone: (service, endpoints) => !endpoints || !isMirrorable(endpoints) || service?.selector !== null,
  },
  events: {
    component: 'endpoint-slice-mirroring-controller',
    reasons: ['InvalidIPAddress', 'TooManyAddressesToMirror'],
    failureText,
  },
  metrics: {
    queue: 'endpoint_slice_mirroring',
    own: { subsystem: 'endpoint_slice_mirroring_controller', rows: mirroringMetricRows, open: mirroringMetrics },
  },
};

function failureText({ service, failures, groups }: FailedPlan): string {
  // Only a clean-up has several groups: one per slice.
  if (groups.length > 1) {
    const messages = failures.map(({ message }) => message);
    return cleanUpFailureText(service, messages, groups.length);
  }
  return aggregateText(failures.map((failure) => mirroringFailureText(service, failure))) ?? '';
}
