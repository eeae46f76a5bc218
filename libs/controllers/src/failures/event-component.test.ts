import { type EventToRecord, topologyModeAnnotation } from '@sluice/model';
import { aService, aSlice, pods, someEndpoints } from '@sluice/model/testing';
import { expect, it } from 'vitest';
import { reconcileEndpointSlices } from '../endpointslice/reconcile-endpointslices.ts';
import { reconcileMirroring } from '../endpointslicemirroring/reconcile-mirroring.ts';
import { eventComponent } from './event-component.ts';
import { endpointSliceFailure, endpointsFailure } from './failure-events.ts';

const service = aService({ annotations: { [topologyModeAnnotation]: 'Auto' } });
const object = someEndpoints();

function withheldHints(): readonly EventToRecord[] {
  const inputs = { service, pods: pods(1), slices: [], triggers: null, topology: null, hints: null };
  return reconcileEndpointSlices({ ...inputs, maxEndpointsPerSlice: 100 }).plan.events;
}

function skippedAddresses(): readonly EventToRecord[] {
  const endpoints = someEndpoints({
    subsets: [{ addresses: [{ ip: '1.2.3' }, { ip: '10.0.0.1' }, { ip: '10.0.0.2' }] }],
  });
  const inputs = { service: aService({ selector: null }), endpoints, slices: [], maxEndpointsPerSubset: 1 };
  return reconcileMirroring(inputs).plan.events;
}

const failed = {
  mutation: { verb: 'update', resource: 'endpointslices', object: aSlice('s') },
  message: 'no',
} as const;

it.each<[string, readonly (EventToRecord | null)[]]>([
  [
    'endpoint-controller',
    (['create', 'update'] as const).map((verb) =>
      endpointsFailure(service, { mutation: { verb, resource: 'endpoints', object }, message: 'no' }),
    ),
  ],
  ['endpoint-slice-controller', [endpointSliceFailure(service, [failed], []), ...withheldHints()]],
  ['endpoint-slice-mirroring-controller', skippedAddresses()],
])('reports Events as %s (A1)', (component, events) => {
  expect(events.length).toBeGreaterThanOrEqual(2);
  expect(new Set(events.map((event) => event && eventComponent(event)))).toEqual(new Set([component]));
});
